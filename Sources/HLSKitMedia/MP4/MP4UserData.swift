/// The metadata of an MP4 file for display: titles, names, images, chapters.
///
/// It is read from `moov`: the metadata lists of iTunes (`udta/meta/ilst`) and QuickTime (`meta/keys`), the user data
/// of QuickTime and 3GPP (`udta`), the chapter list of Nero (`udta/chpl`), and the creation time (`mvhd`). Tracks have
/// the same lists in `trak`. Invalid items are dropped, and no method throws.
///
/// Source: ISO/IEC 14496-12 §8.2.2, §8.10, §8.11; "QuickTime File Format", Metadata; 3GPP TS 26.244 §8.
package struct MP4UserData: Sendable, Hashable {
    package enum KeySpace: String, Sendable, Hashable {
        /// `udta/meta/ilst`
        case iTunes
        /// `meta/keys`
        case quickTimeMetadata
        /// `udta/©xxx`
        case quickTimeUserData
        /// `udta`, 3GPP's full boxes
        case isoUserData
    }

    package enum Value: Sendable, Hashable {
        case string(String)
        case integer(Int64)
        case data([UInt8])
    }

    package struct Entry: Sendable, Hashable {
        package var keySpace: KeySpace
        /// The four characters, or the whole name (`com.apple.quicktime.title`, `----:com.apple.iTunes:NAME`).
        package var key: String
        package var value: Value
        /// An ISO 639-2 or BCP 47 tag, or nil if undeclared.
        package var language: String?
    }

    package struct Chapter: Sendable, Hashable {
        /// The time from the start of the movie, in units of 100 ns.
        package var start: Int64
        package var title: String
    }

    /// Longer lists are cut.
    package static let maximumEntryCount = 1024

    package private(set) var entries: [Entry] = []
    /// The chapters of the list box (`chpl`), by start.
    package private(set) var chapters: [Chapter] = []
    package private(set) var trackEntries: [Int: [Entry]] = [:]
    /// The creation time of the movie, in seconds since 1970, or nil if undeclared.
    package private(set) var creationTime: Int64?

    private init() {}

    /// - Parameter bytes: The boxes of the file including `moov`, as in ``MP4HeaderScanner/Header/bytes``.
    package init(parsing bytes: ArraySlice<UInt8>) {
        var reader = BoxReader(bytes, offset: 0)
        while let box = try? reader.nextBox() {
            guard box.type == "moov" else { continue }
            Self.forEachChild(of: box.payload) { child in
                switch child.type {
                case "mvhd": creationTime = try? Self.creationTime(child.payload)
                case "udta": readUserData(child.payload)
                case "meta": readMetadata(child.payload)
                case "trak": readTrack(child.payload)
                default: break
                }
            }
            return
        }
    }

    // MARK: Headers

    /// The seconds from 1904 to 1970, and from 1970 to the year 10,000.
    private static let epoch: UInt64 = 2_082_844_800
    private static let lastSecond: UInt64 = 253_402_300_799

    private static func creationTime(_ payload: BoxReader) throws(MediaError) -> Int64? {
        var reader = payload
        let isLong = try reader.readVersionAndFlags().version == 1
        let time = isLong ? try reader.readUInt64() : UInt64(try reader.readUInt32())
        // Times count from 1904, but some programs count from 1970. Zero means that the time is unknown.
        let seconds = time > epoch ? time - epoch : time
        return (1...lastSecond).contains(seconds) ? Int64(seconds) : nil
    }

    private static func trackID(_ payload: BoxReader) throws(MediaError) -> Int {
        var reader = payload
        try reader.skip(try reader.readVersionAndFlags().version == 1 ? 16 : 8)
        return Int(try reader.readUInt32())
    }

    private mutating func readTrack(_ reader: BoxReader) {
        var id: Int?
        var data = MP4UserData()
        Self.forEachChild(of: reader) { child in
            switch child.type {
            case "tkhd": id = try? Self.trackID(child.payload)
            case "udta": data.readUserData(child.payload)
            case "meta": data.readMetadata(child.payload)
            default: break
            }
        }
        guard let id, trackEntries[id] == nil, !data.entries.isEmpty else { return }
        trackEntries[id] = data.entries
    }

    private static func forEachChild(of reader: BoxReader, _ body: (Box) -> Void) {
        var reader = reader
        while let child = try? reader.nextBox() { body(child) }
    }

    private mutating func add(_ keySpace: KeySpace, _ key: String, _ value: Value, language: String? = nil) {
        guard entries.count < Self.maximumEntryCount else { return }
        entries.append(Entry(keySpace: keySpace, key: key, value: value, language: language))
    }

    // MARK: User data

    private mutating func readUserData(_ reader: BoxReader) {
        Self.forEachChild(of: reader) { child in
            switch child.type {
            case "meta": readMetadata(child.payload)
            case "chpl": try? readChapters(child.payload)
            case "titl", "dscp", "cprt", "perf", "auth", "gnre", "albm": try? readISOText(child)
            case "name":
                guard let text = Self.text(child.payload.rest) else { return }
                add(.quickTimeUserData, "name", .string(text))
            default:
                if child.type.rawValue >> 24 == 0xA9 { try? readQuickTimeText(child) }
            }
        }
    }

    /// Reads a full box: the language, then a string in UTF-8 or UTF-16 with a byte order mark.
    private mutating func readISOText(_ box: Box) throws(MediaError) {
        var reader = box.payload
        _ = try reader.readVersionAndFlags()
        let language = MP4Track.language(packed: try reader.readUInt16())
        guard let text = Self.text(reader.rest) else { return }
        add(.isoUserData, Self.name(of: box.type), .string(text), language: language)
    }

    private mutating func readQuickTimeText(_ box: Box) throws(MediaError) {
        var reader = box.payload
        while reader.remaining >= 4 {
            let count = Int(try reader.readUInt16())
            let language = MP4Track.language(packed: try reader.readUInt16())
            let bytes = try reader.readBytes(count)
            let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            add(.quickTimeUserData, Self.name(of: box.type), .string(text), language: language)
        }
    }

    private mutating func readChapters(_ payload: BoxReader) throws(MediaError) {
        var reader = payload
        let version = try reader.readVersionAndFlags().version
        if version > 0 { try reader.skip(4) }
        let count = Int(try reader.readUInt8())
        for _ in 0..<count {
            let start = Int64(clamping: try reader.readUInt64())
            let length = Int(try reader.readUInt8())
            let title = String(decoding: try reader.readBytes(length), as: UTF8.self)
            chapters.append(Chapter(start: start, title: title))
        }
    }

    // MARK: Metadata lists

    private mutating func readMetadata(_ payload: BoxReader) {
        var reader = payload
        // ISO's box begins with version and flags, QuickTime's with its first child.
        var probe = payload
        if let first = try? probe.readUInt32(), first == 0 { _ = try? reader.readVersionAndFlags() }
        var handler: FourCharacterCode = "mdir"
        var keys: [String] = []
        var list: BoxReader?
        Self.forEachChild(of: reader) { child in
            var payload = child.payload
            switch child.type {
            case "hdlr":
                if (try? payload.skip(8)) != nil, let code = try? payload.readCode() { handler = code }
            case "keys": keys = (try? Self.keys(payload)) ?? []
            case "ilst": list = payload
            default: break
            }
        }
        guard let list else { return }
        Self.forEachChild(of: list) { item in
            if handler == "mdta" {
                let index = Int(item.type.rawValue) - 1
                guard keys.indices.contains(index) else { return }
                readValues(item.payload, .quickTimeMetadata, key: keys[index])
            } else {
                readValues(item.payload, .iTunes, key: Self.name(of: item.type))
            }
        }
    }

    private static func keys(_ payload: BoxReader) throws(MediaError) -> [String] {
        var reader = payload
        _ = try reader.readVersionAndFlags()
        let count = Int(try reader.readUInt32())
        var keys: [String] = []
        for _ in 0..<min(count, maximumEntryCount) {
            let size = Int(try reader.readUInt32())
            try reader.skip(4)  // namespace
            guard size >= 8 else { throw reader.malformed("a key of \(size) bytes") }
            keys.append(String(decoding: try reader.readBytes(size - 8), as: UTF8.self))
        }
        return keys
    }

    /// Reads the `data` boxes of an item. A free-form item (`----`) has its name in `mean` and `name`.
    private mutating func readValues(_ payload: BoxReader, _ keySpace: KeySpace, key: String) {
        var key = key
        Self.forEachChild(of: payload) { child in
            var reader = child.payload
            switch child.type {
            case "mean", "name":
                guard (try? reader.skip(4)) != nil else { return }
                key += ":" + String(decoding: reader.rest, as: UTF8.self)
            case "data":
                guard let type = try? reader.readUInt32(), let locale = try? reader.readUInt32() else { return }
                let language = MP4Track.language(packed: UInt16(truncatingIfNeeded: locale))
                add(keySpace, key, Self.value(reader.rest, type: type & 0xFF_FFFF, key: key), language: language)
            default: break
            }
        }
    }

    /// Source: "QuickTime File Format", table of well-known types.
    private static func value(_ bytes: ArraySlice<UInt8>, type: UInt32, key: String) -> Value {
        switch type {
        case 1: .string(String(decoding: bytes, as: UTF8.self))
        case 2: .string(UTF16Text.decode(bytes, isLittleEndian: false))
        case 21 where (1...8).contains(bytes.count): .integer(signed(bytes))
        case 22 where (1...7).contains(bytes.count): .integer(bytes.reduce(0) { $0 << 8 | Int64($1) })
        // Pairs of a number and a total, and iTunes' flags, have no declared type.
        default: .data(Array(bytes))
        }
    }

    private static func signed(_ bytes: ArraySlice<UInt8>) -> Int64 {
        let value = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let unused = 64 - 8 * bytes.count
        return Int64(bitPattern: value << UInt64(unused)) >> Int64(unused)
    }

    // MARK: Text

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        if bytes.starts(with: [0xFE, 0xFF]) {
            return trimmed(UTF16Text.decode(bytes.dropFirst(2), isLittleEndian: false))
        }
        if bytes.starts(with: [0xFF, 0xFE]) {
            return trimmed(UTF16Text.decode(bytes.dropFirst(2), isLittleEndian: true))
        }
        return trimmed(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
    }

    private static func trimmed(_ text: String) -> String? {
        let text = String(text.prefix { $0 != "\0" })
        return text.isEmpty ? nil : text
    }

    /// `©` is one byte in the file.
    private static func name(of code: FourCharacterCode) -> String {
        code.rawValue >> 24 == 0xA9 ? "©" + String(code.description.dropFirst()) : code.description
    }
}
