/// Something that was loaded instead of a playlist, recognized by its first bytes.
enum ForeignContent: Equatable {
    /// A web page; the address of a playlist that it names, or `nil` if there is none.
    case webPage(playlist: String?)
    case dashManifest
    case pls
    case json
    case gzip
    case media(String)

    init?(_ bytes: [UInt8]) {
        let isBlank = { (byte: UInt8) in byte <= 0x20 && byte != 0 }
        let text = bytes.drop(while: isBlank)
        let head = String(decoding: text.prefix(512), as: UTF8.self).lowercased()
        if head.hasPrefix("<!doctype html") || head.hasPrefix("<html") {
            self = .webPage(playlist: Self.playlistAddress(in: bytes.prefix(1 << 20)))
        } else if head.hasPrefix("<mpd") || head.hasPrefix("<?xml") && head.contains("<mpd") {
            self = .dashManifest
        } else if head.hasPrefix("[playlist]") {
            self = .pls
        } else if head.hasPrefix("{") || head.hasPrefix("[{") || head.hasPrefix("[]") {
            self = .json
        } else if bytes.starts(with: [0x1F, 0x8B]) {
            self = .gzip
        } else if bytes.first == 0x47, bytes.count > 376, bytes[188] == 0x47, bytes[376] == 0x47 {
            self = .media("MPEG-TS")
        } else if bytes.count > 8, [Array("ftyp".utf8), Array("styp".utf8)].contains(Array(bytes[4..<8])) {
            self = .media("MP4")
        } else {
            return nil
        }
    }

    /// The first address in the page whose path ends in `.m3u8`, as the page has it but without escaped slashes.
    private static func playlistAddress(in page: ArraySlice<UInt8>) -> String? {
        let extensionBytes = Array(".m3u8".utf8)
        // Anything that cannot be in an address ends one.
        let ends = Set("\"'<> \t\r\n();,=`".utf8)
        var index = page.startIndex
        while index + extensionBytes.count <= page.endIndex {
            guard page[index] == 0x2E, page[index...].starts(with: extensionBytes) else {
                index += 1
                continue
            }
            var start = index
            while start > page.startIndex, !ends.contains(page[start - 1]), index - start < 1000 { start -= 1 }
            var end = index + extensionBytes.count
            if end < page.endIndex, page[end] == UInt8(ascii: "?") {
                let queryEnds = ends.subtracting("=,();".utf8)
                while end < page.endIndex, !queryEnds.contains(page[end]), end - index < 1000 { end += 1 }
            }
            if start < index {
                return String(decoding: page[start..<end].filter { $0 != UInt8(ascii: "\\") }, as: UTF8.self)
            }
            index += extensionBytes.count
        }
        return nil
    }

    var text: String {
        switch self {
        case .webPage(nil): "a web page"
        case .webPage(let address?): "a web page; it names \(address)"
        case .dashManifest: "a DASH manifest"
        case .pls: "a PLS list, which names streams in lines File1=URL"
        case .json: "JSON"
        case .gzip: "gzip data without a Content-Encoding"
        case .media(let container): "\(container) media"
        }
    }
}
