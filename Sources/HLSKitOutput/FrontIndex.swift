import HLSKitLoading

/// Puts the index of an MP4 file before its media, so that the file can be played while it is transferred.
///
/// The muxer reserves space after the first box (option `moov_size`) and finally writes the index there. This class
/// keeps the index instead. If the space is too small, the index follows the media, which the muxer cannot do itself.
/// Unused space becomes a `free` box, and a hole in the file.
final class FrontIndex {
    private static let headerByteCount = 8

    private let file: OutputFile
    private let room: Int64
    /// The offset of the reserved space, or `nil` before the muxer has reserved it.
    private var start: Int64?
    private var position: Int64 = 0
    /// The data that the muxer has written to the space, or `nil` before it does.
    private var index: [UInt8]?

    init(_ file: OutputFile, room: Int64) { (self.file, self.room) = (file, max(room, 64)) }

    var options: [String: String] { ["moov_size": "\(room)"] }

    func write(_ bytes: UnsafeRawBufferPointer) throws(HLSError) {
        defer { position += Int64(bytes.count) }
        guard let start, index != nil, let offset = Int(exactly: position - start), offset >= 0 else {
            return try file.write(bytes)
        }
        let missing = offset + bytes.count - (index?.count ?? 0)
        if missing > 0 { index?.append(contentsOf: repeatElement(0, count: missing)) }
        index?.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    func seek(to offset: Int64) throws(HLSError) {
        // The first seek reserves the space. A seek back to its start precedes the index.
        if start == nil, offset == position + room {
            start = position
        } else if offset == start {
            index = index ?? []
        }
        position = offset
        if index == nil { try file.seek(to: offset) }
    }

    private var box: [UInt8]? {
        guard let index, index.count >= Self.headerByteCount else { return nil }
        let byteCount = index.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return byteCount >= Self.headerByteCount && byteCount <= index.count ? Array(index[..<byteCount]) : nil
    }

    /// Whether the index is complete, even if the muxer reports that its space is too small.
    var isComplete: Bool { box != nil }

    /// Writes the index to its final position, after the muxer has finished.
    ///
    /// - Parameter complete: Changes the index without changing its size.
    func finish(_ complete: (inout [UInt8]) -> Void = { _ in }) throws(HLSError) {
        guard let start, var moov = box else { return }
        complete(&moov)
        let byteCount = moov.count
        let left = room - Int64(byteCount)
        if left == 0 || left >= Self.headerByteCount {
            try file.seek(to: start)
            try file.write(moov)
            if left > 0 { try file.write(Self.freeBox(left)) }
        } else {
            let end = file.byteCount
            try file.seek(to: start)
            try file.write(Self.freeBox(room))
            try file.seek(to: end)
            try file.write(moov)
        }
    }

    private static func freeBox(_ byteCount: Int64) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: byteCount >> (8 * $0)) } + Array("free".utf8)
    }
}
