// Known calls for node's profiler.
function leaf(n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += Math.sqrt(i);
  return sum;
}

function branch(n) {
  let sum = 0;
  for (let i = 0; i < n / 2; i++) sum += i % 7;
  return sum + leaf(n);
}

function recurse(depth, n) {
  const sum = leaf(n / 4);
  return depth > 0 ? sum + recurse(depth - 1, n) : sum;
}

let total = 0;
for (let i = 0; i < 40; i++) total += branch(1e6) + recurse(5, 1e6);
console.log(total > 0);
