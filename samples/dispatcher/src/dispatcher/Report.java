package dispatcher;

import java.util.List;
import java.util.Locale;

/** The program's own measurements of its requests. */
final class Report {
    private Report() {}

    /** One line: the number of requests, and the means of arrivals, service, wait and response. */
    static String summary(List<DispatchRequest> requests) {
        int count = requests.size();
        double wait = 0;
        double service = 0;
        for (DispatchRequest request : requests) {
            wait += request.dispatched - request.enqueued;
            service += request.finished - request.dispatched;
        }
        double span = requests.get(count - 1).enqueued - requests.get(0).enqueued;
        return String.format(
                Locale.ROOT,
                "requests=%d arrivals=%.3f/s service=%.3fms wait=%.3fms response=%.3fms",
                count,
                (count - 1) / span * 1e9,
                service / count / 1e6,
                wait / count / 1e6,
                (wait + service) / count / 1e6);
    }

    /** One line per request, in queue order: number, then enqueue, dispatch and finish in nanoseconds. */
    static String truth(List<DispatchRequest> requests) {
        StringBuilder text = new StringBuilder("number\tenqueue\tdispatch\tfinish\n");
        for (DispatchRequest request : requests) {
            text.append(request.number).append('\t').append(request.enqueued).append('\t');
            text.append(request.dispatched).append('\t').append(request.finished).append('\n');
        }
        return text.toString();
    }
}
