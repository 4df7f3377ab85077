package dispatcher;

import java.io.IOException;
import java.util.List;

/**
 * A server with receiver threads, a FIFO thread pool and dispatcher threads, like that of JPMT's §5, and its load generator.
 *
 * <p>At scale 1 it is the paper's scenario: Poisson arrivals at 4/s, three dispatchers, 1/1.75 s of service.
 */
public final class Main {
    private static final double ARRIVALS_PER_SECOND = 4;
    private static final double SERVICE_SECONDS = 1 / 1.75;

    private Main() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        int requests = 1000;
        int threads = 3;
        int connections = 4;
        double scale = 0.1;
        long seed = 1;
        boolean truth = false;
        for (int n = 0; n < args.length; n++) {
            switch (args[n]) {
                case "--requests":
                    requests = Integer.parseInt(valueOf(args, ++n));
                    break;
                case "--threads":
                    threads = Integer.parseInt(valueOf(args, ++n));
                    break;
                case "--connections":
                    connections = Integer.parseInt(valueOf(args, ++n));
                    break;
                case "--scale":
                    scale = Double.parseDouble(valueOf(args, ++n));
                    break;
                case "--seed":
                    seed = Long.parseLong(valueOf(args, ++n));
                    break;
                case "--truth":
                    truth = true;
                    break;
                default:
                    throw usage(args[n]);
            }
        }
        if (requests < 1 || threads < 1 || connections < 1 || !(scale > 0)) {
            throw usage("numbers below one, or a scale of zero");
        }
        Servant servant = new Servant((long) (SERVICE_SECONDS * scale * 1e9));
        Server server = new Server(threads, servant);
        Source source = new Source(server.port(), connections, ARRIVALS_PER_SECOND / scale, seed);
        source.send(requests);
        List<DispatchRequest> done = server.finished(requests);
        System.out.println(Report.summary(done));
        if (truth) {
            System.out.print(Report.truth(done));
        }
    }

    private static String valueOf(String[] args, int n) {
        if (n == args.length) {
            throw usage(args[n - 1]);
        }
        return args[n];
    }

    private static IllegalArgumentException usage(String wrong) {
        return new IllegalArgumentException(
                "not understood: "
                        + wrong
                        + "; usage: dispatcher.Main [--requests N] [--scale S] [--seed N] [--threads N] [--connections N] [--truth]");
    }
}
