<?php
// Samples the program that follows (auto_prepend_file), and writes what Excimer has of it into the file that EXCIMER names: folded
// stacks and, with ".json" after its name, the samples of each function.
$excimer = new ExcimerProfiler();
$excimer->setPeriod(0.001);
$excimer->setEventType(EXCIMER_REAL);
$excimer->start();
register_shutdown_function(function () use ($excimer) {
    $excimer->stop();
    $log = $excimer->getLog();
    $file = getenv('EXCIMER');
    file_put_contents($file, $log->formatCollapsed());
    file_put_contents("$file.json", json_encode($log->aggregateByFunction()));
});
