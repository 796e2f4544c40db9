// Configuration, log, metrics, signals, start and stop order.
