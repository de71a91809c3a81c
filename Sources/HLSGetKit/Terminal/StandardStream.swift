import Glibc

/// Standard output or standard error, written without buffering.
package struct StandardStream: Sendable {
    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    /// What is written to a pipe at once is not mixed with what others write to it, up to so many bytes (PIPE_BUF, pipe(7)).
    private static let pieceByteCount = 4096

    package let descriptor: Int32

    /// Writes all of `text`; what a closed or full stream does not take is lost.
    package func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes all of `bytes`, whole lines at a time where they are not too long; what a closed or full stream does not take is
    /// lost.
    func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var written = 0
            while let base = buffer.baseAddress, written < buffer.count {
                let count = Glibc.write(descriptor, base + written, Self.pieceLength(of: buffer[written...]))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                written += count
            }
        }
    }

    static func pieceLength(of rest: Slice<UnsafeRawBufferPointer>) -> Int {
        guard rest.count > pieceByteCount else { return rest.count }
        let end = rest.prefix(pieceByteCount).lastIndex(of: 0x0A)
        return end.map { $0 + 1 - rest.startIndex } ?? rest.count
    }

    /// Writes `line` and a line break.
    package func writeLine(_ line: String) { write(line + "\n") }
}
