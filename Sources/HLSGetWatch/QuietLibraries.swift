import Glibc

/// Keeps system libraries from writing to standard error what they could not find: what matters of it is told in the
/// command's own words.
enum QuietLibraries {
    /// Calls `body` while nothing that is written to standard error is seen.
    static func during<Result>(_ body: () -> Result) -> Result {
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        let kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        guard nowhere >= 0, kept >= 0 else {
            for descriptor in [nowhere, kept] where descriptor >= 0 { close(descriptor) }
            return body()
        }
        dup2(nowhere, STDERR_FILENO)
        defer {
            dup2(kept, STDERR_FILENO)
            close(kept)
            close(nowhere)
        }
        return body()
    }
}
