import Glibc

/// Tells whether the terminal that the program was started on has been closed: a window, or a connection by ssh.
package struct TerminalHangup: Sendable {
    private let descriptors: [Int32]

    /// - Parameter descriptors: those of them that are terminals are looked at.
    package init(_ descriptors: [Int32] = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]) {
        self.descriptors = descriptors.filter { isatty($0) != 0 }
    }

    package var hasHappened: Bool {
        descriptors.contains { descriptor in
            var settings = termios()
            return tcgetattr(descriptor, &settings) != 0 && errno == EIO
        }
    }
}
