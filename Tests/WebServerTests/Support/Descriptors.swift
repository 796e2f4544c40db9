import Glibc

/// -1 for a number that no open file has.
func fcntlGetFlags(_ number: Int32) -> Int32 { fcntl(number, F_GETFD) }
