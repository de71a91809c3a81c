import Glibc

/// Suppresses what system libraries write to standard error. The command reports relevant errors itself.
enum QuietLibraries {
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
