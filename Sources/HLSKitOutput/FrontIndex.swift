import HLSKitLoading

/// Puts the index of an MP4 file before its media, so that the file plays while it is still on its way to somebody.
///
/// The muxer leaves room behind the first box (its option `moov_size`) and writes the index there at the end. What it writes is
/// kept here instead: where the room is too small, the index goes behind the media after all, which the muxer cannot do.
/// Room that is left over is a box of its own, and a hole on the disk.
final class FrontIndex {
    /// Bytes from the start of a box to its contents.
    private static let headerByteCount = 8

    private let file: OutputFile
    private let room: Int64
    /// Where the room begins; nil before the muxer has left it.
    private var start: Int64?
    private var position: Int64 = 0
    /// What the muxer has written into the room; nil before it does.
    private var index: [UInt8]?

    /// - Parameter room: bytes, more than those of a box's header.
    init(_ file: OutputFile, room: Int64) { (self.file, self.room) = (file, max(room, 64)) }

    /// For the muxer.
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
        // The first seek leaves the room; one back to where it began is for the index.
        if start == nil, offset == position + room {
            start = position
        } else if offset == start {
            index = index ?? []
        }
        position = offset
        if index == nil { try file.seek(to: offset) }
    }

    /// The index that the muxer has written; nil where it has not, or has put it elsewhere.
    private var box: [UInt8]? {
        guard let index, index.count >= Self.headerByteCount else { return nil }
        let byteCount = index.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return byteCount >= Self.headerByteCount && byteCount <= index.count ? Array(index[..<byteCount]) : nil
    }

    /// It is there whole, whatever the muxer thinks of its room.
    var isComplete: Bool { box != nil }

    /// The muxer is through: writes the index where it is to be.
    func finish() throws(HLSError) {
        guard let start, let moov = box else { return }
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

    /// The header of a box that says nothing.
    private static func freeBox(_ byteCount: Int64) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: byteCount >> (8 * $0)) } + Array("free".utf8)
    }
}
