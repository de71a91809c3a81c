import Glibc
import Synchronization

/// Standard output or standard error, written without buffering.
package struct StandardStream: Sendable {
    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    /// Writes of up to this many bytes to a pipe are not mixed with other writers' output (PIPE_BUF, pipe(7)).
    private static let pieceByteCount = 4096

    package let descriptor: Int32
    private static let outputError = Atomic<Int32>(0)

    /// The reason why standard output is incomplete, or `nil` if it is not, or if its reader closed it.
    package static var outputFailure: String? {
        let error = outputError.load(ordering: .relaxed)
        return error == 0 ? nil : String(cString: strerror(error))
    }

    /// Writes the whole `text`. Output that a closed or full stream does not accept is lost. ``outputFailure`` then
    /// gives the reason.
    package func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes the bytes, in whole lines unless they are too long. Output that a closed or full stream does not accept
    /// is lost.
    func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var written = 0
            while let base = buffer.baseAddress, written < buffer.count {
                let count = Glibc.write(descriptor, base + written, Self.pieceLength(of: buffer[written...]))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return noteFailure(count < 0 ? errno : 0) }
                written += count
            }
        }
    }

    private func noteFailure(_ error: Int32) {
        guard descriptor == STDOUT_FILENO, error != EPIPE else { return }
        _ = Self.outputError.compareExchange(expected: 0, desired: error, ordering: .relaxed)
    }

    static func pieceLength(of rest: Slice<UnsafeRawBufferPointer>) -> Int {
        guard rest.count > pieceByteCount else { return rest.count }
        let end = rest.prefix(pieceByteCount).lastIndex(of: 0x0A)
        return end.map { $0 + 1 - rest.startIndex } ?? rest.count
    }

    package func writeLine(_ line: String) { write(line + "\n") }
}
