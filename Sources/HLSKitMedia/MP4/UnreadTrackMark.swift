/// A `free` box that names a track whose media was left out, because it cannot be decoded.
package enum UnreadTrackMark {
    private static let start = Array("HLSKit: unread ".utf8)
    static let maximumByteCount = 128

    package static func box(_ mediaType: MediaKind, name: String) -> [UInt8] {
        var writer = MP4BoxWriter()
        writer.box("free") { $0.write(start + Array("\(mediaType.rawValue) \(name)".utf8).prefix(64)) }
        return writer.bytes
    }

    static func event(_ payload: ArraySlice<UInt8>) -> DemuxerEvent? {
        guard payload.starts(with: start) else { return nil }
        let words = String(decoding: payload.dropFirst(start.count), as: UTF8.self).split(separator: " ", maxSplits: 1)
        guard words.count == 2, let mediaType = MediaKind(rawValue: String(words[0])) else { return nil }
        return .unreadTrack(mediaType, name: String(words[1]))
    }
}
