package import HLSKitMedia
import HLSKitPlaylist
package import HLSKitSelection

extension MetadataItem {
    // MARK: Session data

    /// Returns the session data of a playlist as metadata. Source: rfc8216bis §4.4.6.4.
    static func items(of playlist: MultivariantPlaylist, inspector: AssetInspector) -> [MetadataItem] {
        playlist.sessionData.compactMap { data in
            let common = commonKey(ofDataID: data.dataID)
            if let value = data.value {
                return MetadataItem(
                    .hlsMetadata, key: data.dataID, common: common, language: data.language, value: .string(value))
            }
            guard let url = data.uri.flatMap(playlist.resolve) else { return nil }
            return MetadataItem(
                data.dataID, common: common, language: data.language, url: url, isJSON: data.format != "RAW",
                load: { try await inspector.sessionData(at: $0) })
        }
    }

    private static func commonKey(ofDataID id: String) -> CommonMetadataKey? {
        let prefix = "com.apple.hls."
        guard id.hasPrefix(prefix) else { return nil }
        return hlsNames.contains(String(id.dropFirst(prefix.count)))
            ? CommonMetadataKey(rawValue: String(id.dropFirst(prefix.count))) : nil
    }

    private static let hlsNames: Set<String> = [
        "title", "creator", "subject", "description", "publisher", "creationDate", "language", "copyrights",
        "albumName", "author", "artist", "artwork", "software", "type",
    ]

    // MARK: MP4

    /// Returns the metadata of a movie. Its header has the creation date, unless the metadata contains a better one.
    static func items(of data: MP4UserData) -> [MetadataItem] {
        var items = items(of: data.entries)
        if let time = data.creationTime, !items.contains(where: { $0.commonKey == .creationDate }) {
            items.append(
                MetadataItem(
                    .isoUserData, key: "mvhd", common: .creationDate,
                    value: .string(PlaylistDate(seconds: time).description)))
        }
        return items
    }

    static func items(of entries: [MP4UserData.Entry]) -> [MetadataItem] {
        entries.map { entry in
            let format: MetadataFormat =
                switch entry.keySpace {
                case .iTunes: .iTunesMetadata
                case .quickTimeMetadata: .quickTimeMetadata
                case .quickTimeUserData: .quickTimeUserData
                case .isoUserData: .isoUserData
                }
            let value: MetadataValue =
                switch entry.value {
                case .string(let text): .string(text)
                case .integer(let number): .number(Double(number))
                case .data(let bytes): .data(bytes)
                }
            return MetadataItem(
                format, key: entry.key, common: mp4Names[entry.key].map(CommonMetadataKey.init(rawValue:)),
                language: entry.language, value: value)
        }
    }

    private static let mp4Names: [String: String] = [
        "©nam": "title", "©ART": "artist", "©alb": "albumName", "©day": "creationDate", "©cmt": "description",
        "desc": "description", "©des": "description", "©too": "software", "©swr": "software", "covr": "artwork",
        "cprt": "copyrights", "©cpy": "copyrights", "©wrt": "creator", "©aut": "author", "©pub": "publisher",
        "titl": "title", "name": "title", "dscp": "description", "perf": "artist", "auth": "author",
        "albm": "albumName",
        "com.apple.quicktime.title": "title", "com.apple.quicktime.artist": "artist",
        "com.apple.quicktime.album": "albumName", "com.apple.quicktime.author": "author",
        "com.apple.quicktime.description": "description", "com.apple.quicktime.creationdate": "creationDate",
        "com.apple.quicktime.copyright": "copyrights", "com.apple.quicktime.software": "software",
        "com.apple.quicktime.artwork": "artwork", "com.apple.quicktime.publisher": "publisher",
    ]

    // MARK: Other containers

    static func items(of metadata: FileMetadata) -> [MetadataItem] {
        metadata.tags.map { tag in
            MetadataItem(
                .libavformat, key: tag.name, common: FileMetadata.commonKey(ofName: tag.name), value: .string(tag.value)
            )
        }
    }

    // MARK: ID3

    package static func items(of tag: ID3Tag) -> [MetadataItem] {
        tag.frames.compactMap { frame in
            let common = (id3Names[frame.id]).map(CommonMetadataKey.init(rawValue:))
            guard let (value, language, suffix) = id3Value(frame) else { return nil }
            return MetadataItem(
                .id3Metadata, key: frame.id + (suffix.map { ":\($0)" } ?? ""), common: common, language: language,
                value: value)
        }
    }

    private static let id3Names = [
        "TIT2": "title", "TT2": "title", "TPE1": "artist", "TP1": "artist", "TALB": "albumName", "TAL": "albumName",
        "TDRC": "creationDate", "TYER": "creationDate", "TYE": "creationDate", "TCOP": "copyrights",
        "TCR": "copyrights",
        "TPUB": "publisher", "TPB": "publisher", "TCOM": "creator", "TCM": "creator", "TEXT": "author", "TXT": "author",
        "TSSE": "software", "TSS": "software", "TLAN": "language", "TLA": "language", "COMM": "description",
        "COM": "description", "APIC": "artwork", "PIC": "artwork",
    ]

    /// Returns the value of a frame, its language, and the text that distinguishes it from other frames with its ID.
    /// Source: ID3v2.4.0 frames, §4.
    private static func id3Value(_ frame: ID3Tag.Frame) -> (MetadataValue, language: String?, suffix: String?)? {
        guard let encoding = frame.content.first else { return nil }
        let body = frame.content.dropFirst()
        switch frame.id {
        case "TXXX", "TXX":
            let parts = ID3Text.split(body, encoding)
            return (.string(ID3Text.decode(parts.1, encoding)), nil, ID3Text.decode(parts.0, encoding))
        case "COMM", "COM", "USLT", "ULT":
            guard body.count >= 3 else { return nil }
            let language = String(decoding: body.prefix(3), as: UTF8.self).lowercased()
            let parts = ID3Text.split(body.dropFirst(3), encoding)
            let isKnown = language.utf8.allSatisfy { (0x61...0x7A).contains($0) } && language != "xxx"
            return (.string(ID3Text.decode(parts.1, encoding)), isKnown ? language : nil, nil)
        case "APIC":
            // The layout is: MIME type in Latin-1, image type, description, image data.
            guard let end = body.firstIndex(of: 0), end + 2 <= body.endIndex else { return nil }
            return (.data(Array(ID3Text.split(body[(end + 2)...], encoding).1)), nil, nil)
        case "PIC":
            guard body.count >= 4 else { return nil }
            return (.data(Array(ID3Text.split(body.dropFirst(4), encoding).1)), nil, nil)
        case "PRIV", "UFI", "UFID":
            let owner = frame.content.prefix { $0 != 0 }
            let data = frame.content[min(owner.endIndex + 1, frame.content.endIndex)...]
            return (.data(Array(data)), nil, String(decoding: owner, as: UTF8.self))
        case _ where frame.id.hasPrefix("T"): return (.string(ID3Text.decode(body, encoding)), nil, nil)
        case _ where frame.id.hasPrefix("W"):
            return (.string(ID3Text.decode(frame.content[...], 0)), nil, nil)
        default: return (.data(frame.content), nil, nil)
        }
    }
}

private enum ID3Text {
    static func split(_ bytes: ArraySlice<UInt8>, _ encoding: UInt8) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
        guard encoding == 1 || encoding == 2 else {
            guard let end = bytes.firstIndex(of: 0) else { return (bytes, []) }
            return (bytes[..<end], bytes[(end + 1)...])
        }
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            if bytes[index] == 0, bytes[index + 1] == 0 { return (bytes[..<index], bytes[(index + 2)...]) }
            index += 2
        }
        return (bytes, [])
    }

    /// Decodes a text. Several strings in a frame are joined with a slash.
    static func decode(_ bytes: ArraySlice<UInt8>, _ encoding: UInt8) -> String {
        let text: String
        switch encoding {
        case 1, 2:
            let isLittleEndian = encoding == 1 && bytes.starts(with: [0xFF, 0xFE])
            let hasMark = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
            text = UTF16Text.decode(hasMark ? bytes.dropFirst(2) : bytes, isLittleEndian: isLittleEndian)
        case 3: text = String(decoding: bytes, as: UTF8.self)
        default: text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
        return text.split(separator: "\0").joined(separator: "/")
    }
}
