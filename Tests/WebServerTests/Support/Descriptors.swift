import Glibc

/// -1 for a number that no open file has.
func fcntlGetFlags(_ number: Int32) -> Int32 { fcntl(number, F_GETFD) }

/// Lets this process open as many files as it may.
/// - Returns: how many.
func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
}
