/// An ID3v2 tag, parsed into its frames.
///
/// Source: ID3v2.2, ID3v2.3.0 and ID3v2.4.0 informal standards; "HTTP Live Streaming" (RFC 8216 §3.4) for the
/// timestamp.
package struct ID3Tag: Sendable, Hashable {
    /// 2, 3 or 4.
    package var majorVersion: Int
    package var frames: [Frame]

    /// One frame, with unsynchronisation and the data length indicator removed.
    package struct Frame: Sendable, Hashable {
        /// Four characters, three in version 2.2: "PRIV", "TXXX", "TIT2".
        package var id: String
        /// The content after the frame's header. It is empty for compressed and encrypted frames.
        package var content: [UInt8]

        package init(id: String, content: [UInt8]) {
            self.id = id
            self.content = content
        }
    }

    static let headerByteCount = 10
    /// The owner of the PRIV frame with the timestamp of packed audio (RFC 8216 §3.4).
    private static let timestampOwner = "com.apple.streaming.transportStreamTimestamp"

    /// The size of the whole tag with header and footer, or nil if `header` does not begin a tag.
    static func byteCount(ofTagWithHeader header: ArraySlice<UInt8>) -> Int? {
        guard header.count >= headerByteCount, header.starts(with: "ID3".utf8) else { return nil }
        let b = header.startIndex
        guard (2...4).contains(header[b + 3]), header[b + 4] != 0xff,
            let size = synchsafe(header[(b + 6)..<(b + 10)])
        else { return nil }
        let hasFooter = header[b + 3] == 4 && header[b + 5] & 0x10 != 0
        return headerByteCount + size + (hasFooter ? headerByteCount : 0)
    }

    /// Reads a whole tag. Frames after the first invalid one are dropped.
    ///
    /// - Throws: `malformed` if the bytes do not begin with a tag, `truncated` if they end before the tag does.
    package init(parsing bytes: some Collection<UInt8>) throws(MediaError) {
        let bytes = Array(bytes)
        guard let byteCount = Self.byteCount(ofTagWithHeader: bytes[...]) else {
            throw MediaError(code: .malformed, byteOffset: 0, text: "no ID3 tag")
        }
        guard byteCount <= bytes.count else {
            throw MediaError(
                code: .truncated, byteOffset: bytes.count, text: "ID3 tag of \(byteCount) bytes ends early")
        }
        majorVersion = Int(bytes[3])
        frames = []
        let flags = bytes[5]
        let hasFooter = majorVersion == 4 && flags & 0x10 != 0
        var body = bytes[Self.headerByteCount..<byteCount - (hasFooter ? Self.headerByteCount : 0)]
        if majorVersion < 4 && flags & 0x80 != 0 { body = Self.synchronised(body)[...] }
        if majorVersion > 2 && flags & 0x40 != 0 {
            // The size of the extended header includes itself in 2.4, but not in 2.3.
            guard body.count >= 4 else { return }
            let field = body.prefix(4)
            let size = majorVersion == 4 ? Self.synchsafe(field) ?? 0 : 4 + Self.number(field)
            body = body.dropFirst(max(size, 4))
        }
        while let frame = Self.nextFrame(of: &body, majorVersion: majorVersion) { frames.append(frame) }
    }

    /// The 33-bit timestamp of the first sample of a packed audio segment in units of 1/90 000 s, or nil if there is
    /// none.
    package var transportStreamTimestamp: Int64? {
        for frame in frames where Self.isTimestamp(frame) {
            let value = frame.content.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Int64(value & 0x1_ffff_ffff)
        }
        return nil
    }

    var hasMetadata: Bool { frames.contains { !Self.isTimestamp($0) } }

    private static func isTimestamp(_ frame: Frame) -> Bool {
        let owner = Array(timestampOwner.utf8) + [0]
        return frame.id == "PRIV" && frame.content.count == owner.count + 8 && frame.content.starts(with: owner)
    }

    private static func nextFrame(of body: inout ArraySlice<UInt8>, majorVersion: Int) -> Frame? {
        let idLength = majorVersion == 2 ? 3 : 4
        let headerLength = majorVersion == 2 ? 6 : 10
        guard body.count >= headerLength else { return nil }
        let id = body.prefix(idLength)
        guard id.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) }) else { return nil }
        let field = body.dropFirst(idLength).prefix(idLength)
        // iTunes once wrote 2.4 frames with plain sizes. The larger value is possible only as a plain number.
        let size = majorVersion == 4 ? synchsafe(field) ?? number(field) : number(field)
        let flags = majorVersion == 2 ? 0 : body[body.startIndex + 9]
        body = body.dropFirst(headerLength)
        guard size <= body.count else { return nil }
        var content = body.prefix(size)
        body = body.dropFirst(size)
        let name = String(decoding: id, as: UTF8.self)
        if majorVersion == 3 {
            if flags & 0xc0 != 0 { return Frame(id: name, content: []) }
            if flags & 0x20 != 0 { content = content.dropFirst() }
        } else if majorVersion == 4 {
            if flags & 0x0c != 0 { return Frame(id: name, content: []) }
            if flags & 0x40 != 0 { content = content.dropFirst() }
            if flags & 0x01 != 0 { content = content.dropFirst(4) }
            if flags & 0x02 != 0 { return Frame(id: name, content: synchronised(content)) }
        }
        return Frame(id: name, content: Array(content))
    }

    /// Undoes unsynchronisation: `ff 00` represents `ff`.
    private static func synchronised(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var previous: UInt8 = 0
        for byte in bytes {
            if !(previous == 0xff && byte == 0) { result.append(byte) }
            previous = byte
        }
        return result
    }

    /// Reads four groups of seven bits. Returns nil if a top bit is set.
    private static func synchsafe(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.allSatisfy { $0 < 0x80 } ? bytes.reduce(0) { $0 << 7 | Int($1) } : nil
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
