# Known calls for stackprof; the file to write is the first argument, the mode the second.
require "json"
require "stackprof"

def fibonacci(n)
  n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
end

def sort(n)
  (0...n).map { |i| (i * 7919) % n }.sort_by { |i| -i }
end

def work(rounds)
  rounds.times do
    fibonacci(19)
    sort(4000)
  end
end

profile = StackProf.run(mode: (ARGV[1] || "cpu").to_sym, raw: true, interval: 2000) { work(300) }
File.write(ARGV[0], JSON.generate(profile))
