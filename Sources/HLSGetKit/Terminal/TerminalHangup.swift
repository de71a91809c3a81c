import Glibc

/// Detects whether the terminal of the command was closed: its window, or its ssh connection.
package struct TerminalHangup: Sendable {
    private let descriptors: [Int32]

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
