package import HLSKitLoading
import HLSKitMedia
package import HLSKitPlaylist

enum OpenedResource: Sendable {
    case playlist(Playlist, url: String)
    case mp4(MP4HeaderScanner.Header, url: String, byteCount: Int?)
    /// An MP4 file whose header follows too much media to load all of it.
    case mp4Ahead(MP4HeaderScanner, url: String, byteCount: Int)
    case media(MediaHead, url: String, byteCount: Int?)
    case container(ContainerFile)
}

struct OpeningReader: ResourceReader {
    /// The maximum size of media that is loaded to skip it. Beyond that, a new request starts after the media.
    private static let maximumSkippedByteCount = 1 << 20

    private enum Mode {
        case undecided([UInt8])
        case playlist(PlaylistParser)
        case mp4(MP4HeaderScanner)
        case media(MediaHeadReader)
        case container(ContainerFile)
    }

    private var mode = Mode.undecided([])
    private var options: PlaylistParser.Options
    private let amount: MediaHeadReader.Amount
    private let declared: DeclaredKind?
    private var url: String
    private var byteCount: Int?
    private var position = 0

    init(
        url: String, options: PlaylistParser.Options, amount: MediaHeadReader.Amount, declared: DeclaredKind? = nil
    ) {
        self.declared = declared
        self.url = url
        self.options = options
        self.amount = amount
    }

    mutating func begin(_ response: TransportResponse) {
        url = response.urlString
        options.contentType = response.contentType
        byteCount = ContentCoding.isUsed(in: response.fields) ? nil : response.contentLength
    }

    mutating func take(_ bytes: [UInt8]) throws -> OpenedResource? {
        let start = position
        position += bytes.count
        switch mode {
        case .undecided(let head):
            let head = head + bytes
            guard try decide(head, isEnd: false) else {
                mode = .undecided(head)
                return nil
            }
            return try feed(head, from: 0)
        case .playlist, .mp4, .media, .container: return try feed(bytes, from: start)
        }
    }

    mutating func finish() throws -> OpenedResource {
        if case .undecided(let head) = mode {
            _ = try decide(head, isEnd: true)
            if let resource = try feed(head, from: 0) { return resource }
        }
        switch mode {
        case .playlist(var parser): return .playlist(try parser.finish(), url: url)
        case .mp4(var scanner): return .mp4(try scanner.finish(), url: url, byteCount: position)
        case .media(var reader): return .media(try reader.finish(), url: url, byteCount: position)
        case .container(let file): return .container(file)
        case .undecided: throw MediaError(code: .truncated, text: "the resource is empty")
        }
    }

    /// Chooses how to continue reading. Returns `false` if more bytes are needed.
    private mutating func decide(_ head: [UInt8], isEnd: Bool) throws -> Bool {
        let word = Array("#EXTM3U".utf8)
        let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
        if declared?.container != nil || declared == nil && !text.starts(with: word) {
            switch ContainerProbe.identify(head[...], isComplete: isEnd, declared: declared?.container) {
            case nil: return false
            // The parser reports best why it is not a playlist. MP4 after an image is only read as a segment.
            case .webVTT: break
            case .mp4 where ContainerProbe.beginsWithImage(head): break
            case .mp4:
                mode = .mp4(MP4HeaderScanner())
                return true
            case .transportStream, .packedAudio:
                mode = .media(MediaHeadReader(amount, declared: declared?.container))
                return true
            case .unknown(let name):
                guard let format = ContainerFile.format(named: name, url: url) else {
                    guard ContainerProbe.isUnsupportedContainer(name) else { break }
                    throw ContainerProbe.refusal(ofAppearance: name)
                }
                mode = .container(try ContainerFile(format, name: name, url: url))
                return true
            }
        }
        mode = .playlist(PlaylistParser(url: url, options: options))
        return true
    }

    private mutating func feed(_ bytes: [UInt8], from start: Int) throws -> OpenedResource? {
        switch mode {
        case .undecided: return nil
        case .container(let file): return .container(file)
        case .playlist(var parser):
            mode = .undecided([])
            try parser.append(bytes)
            mode = .playlist(parser)
            return nil
        case .media(var reader):
            mode = .undecided([])
            if let head = try reader.take(bytes) { return .media(head, url: url, byteCount: byteCount) }
            mode = .media(reader)
            return nil
        case .mp4(var scanner):
            mode = .undecided([])
            if let header = try scanner.append(bytes.dropFirst(max(0, scanner.offset - start))) {
                return .mp4(header, url: url, byteCount: byteCount)
            }
            if let byteCount, scanner.offset < byteCount, scanner.offset - position > Self.maximumSkippedByteCount {
                return .mp4Ahead(scanner, url: url, byteCount: byteCount)
            }
            mode = .mp4(scanner)
            return nil
        }
    }
}

package struct PlaylistReader: ResourceReader {
    private var parser: PlaylistParser?
    private var options: PlaylistParser.Options
    private var url: String

    package init(url: String, options: PlaylistParser.Options) {
        self.url = url
        self.options = options
    }

    package mutating func begin(_ response: TransportResponse) {
        url = response.urlString
        options.contentType = response.contentType
    }

    package mutating func take(_ bytes: [UInt8]) throws -> Playlist? {
        var reader = parser ?? PlaylistParser(url: url, options: options)
        parser = nil
        try reader.append(bytes)
        parser = reader
        return nil
    }

    package mutating func finish() throws -> Playlist {
        var reader = parser ?? PlaylistParser(url: url, options: options)
        return try reader.finish()
    }
}
