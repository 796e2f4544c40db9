import CardRules
import Lanes
import WebServer

/// What answers the requests of a daemon, with a life of its own.
protocol ServedCalls: WebHandler {
    /// From now on calls are taken.
    func open()
    /// From now on none is: 503. What waits is still answered.
    func close()
    /// Carries out what waits, until its task is cancelled.
    func run() async
}
