internal import CShims

/// Whether the process was asked to stop: by Ctrl-C, by `kill`, or because its terminal went away. To be looked at by
/// whoever can leave in order; asked a second time the process ends at once.
public enum StopSignals {
    /// From now on the first of each kind is noted instead of ending the process.
    public static func note() { lk_catch_stop_signals() }

    public static var wereSent: Bool { lk_stop_was_asked() != 0 }
}
