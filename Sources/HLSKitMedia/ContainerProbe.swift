/// Identifies the container of a resource from its first bytes, regardless of its name.
public struct ContainerProbe: Sendable, Hashable {
    /// The kind of container.
    public enum Container: Sendable, Hashable {
        /// An MPEG-2 transport stream, with the distance of its packets: 188, 192 or 204.
        case transportStream(packetStride: Int)
        /// ISO base media file format: a CMAF or fMP4 segment, its initialization section, or a plain MP4 file.
        case mp4
        /// Audio frames without a container, or an ID3 tag that no transport stream follows.
        case packedAudio
        case webVTT
        /// Another format, with a description for people: "an HTML page", "empty".
        case unknown(String)
    }

    /// The number of bytes that always suffice, unless the resource begins with an image or an ID3 tag.
    package static let maxByteCount = 2048

    /// The number of bytes that always suffice for a resource that begins with `bytes`. Media may follow a complete
    /// image, and a transport stream may follow an ID3 tag.
    package static func maximumByteCount(of bytes: some Collection<UInt8>) -> Int {
        let head = Array(bytes.prefix(16))[...]
        if let count = tagByteCount(head) { return count + maxByteCount }
        return LeadingImage.begins(head) ? LeadingImage.maximumByteCount + maxByteCount : maxByteCount
    }

    /// The largest ``maximumByteCount(of:)``.
    package static let longestByteCount = LeadingImage.maximumByteCount + maxByteCount

    /// The size of the ID3 tag that the bytes begin with. It is `nil` for a tag that is larger than any useful one.
    private static func tagByteCount(_ bytes: ArraySlice<UInt8>) -> Int? {
        ID3Tag.byteCount(ofTagWithHeader: bytes.prefix(ID3Tag.headerByteCount))
            .flatMap { $0 <= LeadingImage.maximumByteCount ? $0 : nil }
    }

    private var prefix: [UInt8] = []

    package init() {}

    /// Reads the next bytes. Returns nil while more are needed.
    ///
    /// The result does not depend on how the bytes are divided. The probe keeps no more bytes than it needs.
    package mutating func append(_ bytes: ArraySlice<UInt8>) -> Container? {
        let head = bytes.prefix(max(0, 16 - prefix.count))
        prefix.append(contentsOf: head)
        let limit = Self.maximumByteCount(of: prefix)
        prefix.append(contentsOf: bytes.dropFirst(head.count).prefix(max(0, limit - prefix.count)))
        return Self.identify(prefix[...], isComplete: prefix.count >= limit)
    }

    package func finish() -> Container { Self.identify(prefix[...], isComplete: true) ?? .unknown("unknown data") }

    /// Returns the container of a resource that begins with `bytes`, or `nil` if more are needed.
    ///
    /// The result is never `nil` if `isComplete`.
    public static func identify(_ bytes: ArraySlice<UInt8>, isComplete: Bool) -> Container? {
        guard !bytes.isEmpty else { return isComplete ? .unknown("empty") : nil }
        let (all, isAll) = (bytes, isComplete)
        if let count = tagByteCount(all) {
            let rest = Array(all.dropFirst(count).prefix(maxByteCount))
            let isEnd = isAll || rest.count == maxByteCount
            switch transportStream(rest, isComplete: isEnd) {
            case .yes(let container): return container
            case .perhaps where !isEnd: return nil
            case .perhaps, .no: return .packedAudio
            }
        }
        let bytes = Array(bytes.prefix(maxByteCount))
        let isComplete = isComplete || bytes.count == maxByteCount
        var needsMore = false
        // The most reliable first.
        for test in [webVTT, mp4, transportStream, audio] {
            switch test(bytes, isComplete) {
            case .yes(let container): return container
            case .perhaps: needsMore = true
            case .no: break
            }
        }
        if needsMore && !isComplete { return nil }
        // Its audio could look like frames.
        if bytes.count >= 12, let name = unsupportedContainer(bytes[...]) { return .unknown(name) }
        // Sync bytes may follow a little garbage.
        if let stride = laterPackets(bytes) { return .transportStream(packetStride: stride) }
        guard isComplete else { return nil }
        if hasLaterFrames(bytes) { return .packedAudio }
        if LeadingImage.begins(bytes[...]) {
            if let count = LeadingImage.byteCount(all) {
                switch identify(all.dropFirst(count), isComplete: isAll) {
                case nil: return nil
                case .unknown?: break
                case let container?: return container
                }
            } else if !isAll, all.count < LeadingImage.maximumByteCount {
                return nil
            }
        }
        return .unknown(appearance(of: bytes))
    }

    /// Whether the bytes begin with an image, which media may follow.
    package static func beginsWithImage(_ bytes: [UInt8]) -> Bool { LeadingImage.begins(bytes[...]) }

    /// Removes a complete image from the front of a segment. In a transport stream, the demuxer skips it.
    package static func removeImage(from bytes: inout [UInt8], before container: Container) {
        if case .transportStream = container { return }
        guard let count = LeadingImage.byteCount(bytes[...]) else { return }
        bytes.removeFirst(count)
    }

    private enum Verdict { case yes(Container), perhaps, no }

    private static func webVTT(_ bytes: [UInt8], isComplete: Bool) -> Verdict {
        let text = withoutByteOrderMark(bytes)
        let word = Array("WEBVTT".utf8)
        guard text.starts(with: word) else {
            return word.starts(with: text) || bytes.count < 3 && [0xef, 0xbb, 0xbf].starts(with: bytes)
                ? .perhaps : .no
        }
        guard let next = text.dropFirst(word.count).first else { return isComplete ? .yes(.webVTT) : .perhaps }
        return [0x20, 0x09, 0x0a, 0x0d].contains(next) ? .yes(.webVTT) : .no
    }

    private static func mp4(_ bytes: [UInt8], isComplete: Bool) -> Verdict {
        guard bytes.count >= 8 else { return .perhaps }
        let type = FourCharacterCode(rawValue: bytes[...].bigEndianUInt32(at: 4))
        guard MP4InitializationSection.topLevelTypes.contains(type) else { return .no }
        let size = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        // 0: to the end of the file. 1: a 64-bit size follows.
        return size == 0 || size == 1 || size >= 8 ? .yes(.mp4) : .no
    }

    private static let layouts = [(stride: 188, prefix: 0), (stride: 192, prefix: 4), (stride: 204, prefix: 0)]

    private static func transportStream(_ bytes: [UInt8], isComplete: Bool) -> Verdict {
        var needsMore = false
        for layout in layouts {
            let places = (0..<3).map { layout.prefix + $0 * layout.stride }
            let present = places.filter { $0 < bytes.count }
            guard present.allSatisfy({ bytes[$0] == 0x47 }) else { continue }
            if present.count == places.count || (isComplete && !present.isEmpty && bytes.count >= 188) {
                return .yes(.transportStream(packetStride: layout.stride))
            }
            needsMore = true
        }
        return needsMore ? .perhaps : .no
    }

    private static func laterPackets(_ bytes: [UInt8]) -> Int? {
        for layout in layouts {
            let reach = 2 * layout.stride
            guard bytes.count > reach else { continue }
            for start in 0..<bytes.count - reach
            where bytes[start] == 0x47 && bytes[start + layout.stride] == 0x47 && bytes[start + reach] == 0x47 {
                return layout.stride
            }
        }
        return nil
    }

    private static func audio(_ bytes: [UInt8], isComplete: Bool) -> Verdict {
        if "ID3".utf8.starts(with: bytes.prefix(3)) {
            return bytes.count < (isComplete ? 3 : ID3Tag.headerByteCount) ? .perhaps : .yes(.packedAudio)
        }
        var needsMore = false
        for framing in [AudioFraming.adts, .mpegAudio, .ac3, .loas] {
            guard bytes.count >= framing.headerByteCount else {
                needsMore = true
                continue
            }
            guard let header = framing.header(at: 0, in: bytes) else { continue }
            // The next frame confirms this one, if it is within the bytes.
            let next = header.byteCount
            if next + framing.headerByteCount > bytes.count {
                if isComplete { return .yes(.packedAudio) }
                needsMore = true
            } else if framing.header(at: next, in: bytes) != nil || bytes[next...].starts(with: "ID3".utf8) {
                return .yes(.packedAudio)
            }
        }
        return needsMore ? .perhaps : .no
    }

    private static func hasLaterFrames(_ bytes: [UInt8]) -> Bool {
        for start in 1..<bytes.count where bytes[start] == 0xff || bytes[start] == 0x0b {
            for framing in [AudioFraming.adts, .mpegAudio, .ac3] {
                var (at, count) = (start, 0)
                while count < 3, let header = framing.header(at: at, in: bytes) {
                    at += header.byteCount
                    count += 1
                }
                if count == 3 { return true }
            }
        }
        return false
    }

    /// The name of the unsupported media container that the bytes begin with, or nil for other bytes.
    ///
    /// The library recognizes such a container but cannot read it as a segment. Examples are "Matroska" and "Ogg".
    package static func unsupportedContainer(_ bytes: ArraySlice<UInt8>) -> String? {
        containers.first { bytes.starts(with: $0.0) }.flatMap { name in
            guard name.1 == "RIFF" || name.1 == "AIFF" else { return name.1 }
            let kind = String(decoding: bytes.dropFirst(8).prefix(4), as: UTF8.self)
            if name.1 == "AIFF" { return ["AIFF", "AIFC"].contains(kind) ? "AIFF" : nil }
            // Media may follow a WebP image.
            return kind == "WEBP" ? nil : ["WAVE": "WAV", "AVI ": "AVI"][kind] ?? "RIFF"
        }
    }

    package static func isUnsupportedContainer(_ appearance: String) -> Bool {
        ["WAV", "AVI"].contains(appearance) || containers.contains { $0.1 == appearance }
    }

    package static func refusal(ofAppearance appearance: String) -> MediaError {
        isUnsupportedContainer(appearance)
            ? MediaError(
                code: .unsupported, byteOffset: 0,
                text: localContainers.contains(appearance)
                    ? "\(appearance) is read only as a local file, and not as a segment"
                    : "\(appearance) is not supported")
            : MediaError(code: .unknownContainer, byteOffset: 0, text: "not media: it looks like \(appearance)")
    }

    /// The containers that are read if the input is a local file.
    package static let localContainers: Set<String> = ["Matroska", "WAV", "AIFF", "CAF", "FLAC", "Ogg", "AVI"]

    private static let containers: [([UInt8], String)] = [
        ([0x1a, 0x45, 0xdf, 0xa3], "Matroska"), (Array("FLV".utf8), "FLV"), (Array("OggS".utf8), "Ogg"),
        (Array("RIFF".utf8), "RIFF"), (Array("FORM".utf8), "AIFF"), (Array("caff".utf8), "CAF"),
        ([0, 0, 1, 0xba], "an MPEG program stream"), (Array("fLaC".utf8), "FLAC"),
        ([0x30, 0x26, 0xb2, 0x75], "ASF"), ([0x06, 0x0e, 0x2b, 0x34], "MXF"),
    ]

    private static func withoutByteOrderMark(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
    }

    private static func appearance(of bytes: [UInt8]) -> String {
        let text = String(
            decoding: withoutByteOrderMark(bytes).drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }.prefix(256),
            as: UTF8.self
        ).lowercased()
        let starts: [(String, String)] = [
            ("#extm3u", "a playlist"), ("<!doctype html", "an HTML page"), ("<html", "an HTML page"),
            ("<head", "an HTML page"), ("<body", "an HTML page"), ("<?xml", "an XML document"),
            ("<tt", "a TTML document"), ("<", "markup"), ("{", "JSON"), ("[", "JSON"),
        ]
        for (start, name) in starts where text.hasPrefix(start) {
            return name == "an XML document" && text.contains("<html") ? "an HTML page" : name
        }
        if let name = unsupportedContainer(bytes[...]) { return name }
        let magic: [([UInt8], String)] = [
            ([0x1f, 0x8b], "gzip data"), ([0xff, 0xd8, 0xff], "a JPEG image"),
            ([0x89, 0x50, 0x4e, 0x47], "a PNG image"),
        ]
        for (start, name) in magic where bytes.starts(with: start) { return name }
        if bytes.allSatisfy({ $0 == 0 }) { return "zeros" }
        let isText = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f || [0x09, 0x0a, 0x0d].contains($0) }
        return isText ? "text" : "unknown data (encrypted?)"
    }
}
