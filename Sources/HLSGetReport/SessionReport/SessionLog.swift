import FoundationEssentials
import Glibc

package enum SessionLog {
    /// Reads each line of a file, or of standard input if `path` is `-`.
    static func read(_ path: String, into recorder: inout SessionRecorder) throws(POSIXError) {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure }
        defer { if path != "-" { close(descriptor) } }
        var splitter = LineSplitter(limit: SessionRecorder.maximumLineLength)
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure }
            if count == 0 { break }
            splitter.take(piece[..<count]) { recorder.take($0) }
        }
        splitter.finish { recorder.take($0) }
    }

    private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

extension SessionRecorder {
    mutating func take(_ line: LineSplitter.Line) {
        switch line {
        case .whole(let bytes): take(bytes: bytes)
        case .oversized: noteOversizedLine()
        }
    }
}

/// Splits bytes into lines. Lines over the limit are discarded.
struct LineSplitter: Sendable {
    enum Line: Sendable, Equatable {
        case whole([UInt8])
        case oversized
    }

    private let limit: Int
    private var pending: [UInt8] = []
    private var isOversized = false

    init(limit: Int) { self.limit = limit }

    mutating func take(_ bytes: ArraySlice<UInt8>, _ body: (Line) -> Void) {
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            finish(body)
            rest = rest[(end + 1)...]
        }
        append(rest)
    }

    mutating func finish(_ body: (Line) -> Void) {
        if isOversized {
            body(.oversized)
        } else if !pending.isEmpty {
            body(.whole(pending))
        }
        pending = []
        isOversized = false
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !isOversized else { return }
        pending += bytes
        if pending.count > limit {
            isOversized = true
            pending = []
        }
    }
}
