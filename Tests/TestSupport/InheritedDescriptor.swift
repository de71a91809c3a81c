import Glibc

/// A copy of the descriptor of a file that this process has open. Until a started process runs its program, it has such copies.
package final class InheritedDescriptor {
    private let descriptor: Int32

    /// Returns `nil` if no descriptor of this process leads to `path`.
    package init?(of path: String) {
        var (file, open) = (stat(), stat())
        guard stat(path, &file) == 0 else { return nil }
        let found = (0..<4096).first {
            fstat($0, &open) == 0 && open.st_dev == file.st_dev && open.st_ino == file.st_ino
        }
        guard let found else { return nil }
        descriptor = fcntl(found, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }
}
