import Glibc

/// Standard output or standard error, written without buffering.
struct StandardStream: Sendable {
    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// Writes all of `text`; what a closed or full stream does not take is lost.
    func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes all of `bytes`; what a closed or full stream does not take is lost.
    func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var written = 0
            while let base = buffer.baseAddress, written < buffer.count {
                let count = Glibc.write(descriptor, base + written, buffer.count - written)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                written += count
            }
        }
    }

    /// Writes `line` and a line break.
    func writeLine(_ line: String) { write(line + "\n") }
}
