extension MultivariantPlaylist {
    /// The playlist as text.
    ///
    /// An unedited playlist has its original bytes. In an edited one, unchanged items keep their lines byte for byte,
    /// and comments and unknown tags keep their positions. Items fill the positions of their kind in the new order.
    /// Rewritten lines contain no control characters.
    public var text: [UInt8] {
        if let source = source.value, source.original == self { return source.text }
        var writer = MultivariantPlaylistWriter(self)
        writer.write()
        return writer.out.bytes
    }
}

/// Writes a multivariant playlist based on the text that it was read from.
private struct MultivariantPlaylistWriter {
    private let playlist: MultivariantPlaylist
    private let source: MultivariantSource?
    private let original: MultivariantPlaylist
    private let text: [UInt8]
    private(set) var out: LineWriter
    /// The lines of the text's items, by tag and by the index in their list.
    private var lineOfItem: [Tag: [Int: MultivariantSource.ItemLine]] = [:]
    private var passed: [Tag: Int] = [:]
    private var written: Set<Tag> = []
    private var position = 0
    /// The offset after the last definition of a variable.
    private var definitionsEnd = 0
    /// The indices of unedited items, by value.
    private let variants: [VariantStream: Int]
    private let variantsWithoutURI: [VariantStream: Int]
    private let iFrameVariants: [VariantStream: Int]
    private let renditions: [Rendition: Int]
    private let sessionData: [MultivariantPlaylist.SessionData: Int]
    private let sessionKeys: [EncryptionKey: Int]

    init(_ playlist: MultivariantPlaylist) {
        self.playlist = playlist
        source = playlist.source.value
        original = source?.original ?? MultivariantPlaylist()
        text = source?.text ?? []
        out = LineWriter(like: text)
        variants = Self.indices(original.variants)
        variantsWithoutURI = Self.indices(original.variants.map(Self.withoutURI))
        iFrameVariants = Self.indices(original.iFrameVariants)
        renditions = Self.indices(original.renditions)
        sessionData = Self.indices(original.sessionData)
        sessionKeys = Self.indices(original.sessionKeys)
        for item in source?.items ?? [] { lineOfItem[item.tag, default: [:]][item.index] = item }
    }

    private static func indices<Value: Hashable>(_ values: [Value]) -> [Value: Int] {
        Dictionary(zip(values, values.indices)) { first, _ in first }
    }

    private static func withoutURI(_ variant: VariantStream) -> VariantStream {
        var variant = variant
        variant.uri = ""
        return variant
    }

    mutating func write() {
        guard let source else {
            out.tag(.extM3U)
            writeNewSingles(present: [])
            for tag in Self.listTags { writeRest(tag) }
            return
        }
        var present: Set<Tag> = []
        var places: [Tag: Int] = [:]
        text.forEachLine(in: 0..<text.count) { line in
            guard case .tag(let tag) = line.content else { return }
            present.insert(tag)
            if tag == .define { definitionsEnd = line.range.upperBound }
        }
        for item in source.items { places[item.tag, default: 0] += 1 }
        let items = Dictionary(source.items.map { ($0.start, $0) }) { first, _ in first }
        let uris = Dictionary(source.items.compactMap { item in item.uriStart.map { ($0, item) } }) { first, _ in first
        }
        text.forEachLine(in: 0..<text.count) { line in
            position = line.range.lowerBound
            if let item = items[line.range.lowerBound] {
                writePlace(item, isLast: (passed[item.tag] ?? 0) + 1 == places[item.tag])
            } else if case .uri = line.content, uris[line.value.lowerBound] != nil {
                let place = (passed[.streamInf] ?? 0) - 1
                if playlist.variants.indices.contains(place) { writeURI(playlist.variants[place]) }
                if place + 1 == places[.streamInf] { writeRest(.streamInf) }
            } else if case .tag(let tag) = line.content {
                writeSingle(tag, line)
                if tag == .extM3U, passed[.extM3U] == nil {
                    passed[.extM3U] = 1
                    writeNewSingles(present: present)
                }
            } else {
                out.raw(text, line.range)
            }
        }
        for tag in Self.listTags where places[tag] == nil { writeRest(tag) }
    }

    private static let listTags: [Tag] = [.sessionData, .sessionKey, .media, .streamInf, .iFrameStreamInf]

    private func count(_ tag: Tag) -> Int {
        switch tag {
        case .streamInf: playlist.variants.count
        case .iFrameStreamInf: playlist.iFrameVariants.count
        case .media: playlist.renditions.count
        case .sessionData: playlist.sessionData.count
        case .sessionKey: playlist.sessionKeys.count
        default: 0
        }
    }

    private mutating func writePlace(_ item: MultivariantSource.ItemLine, isLast: Bool) {
        if item.tag == .contentSteering {
            writeSingle(.contentSteering, text.line(at: item.start))
            return
        }
        let place = passed[item.tag] ?? 0
        passed[item.tag] = place + 1
        if place < count(item.tag) { writeItem(item.tag, place) }
        if isLast, item.tag != .streamInf { writeRest(item.tag) }
    }

    /// Writes items that have no position in the text.
    private mutating func writeRest(_ tag: Tag) {
        let start = passed[tag] ?? 0
        guard start < count(tag) else { return }
        passed[tag] = count(tag)
        for place in start..<count(tag) {
            writeItem(tag, place)
            if tag == .streamInf { writeURI(playlist.variants[place]) }
        }
    }

    private mutating func writeItem(_ tag: Tag, _ place: Int) {
        switch tag {
        case .streamInf:
            let variant = playlist.variants[place]
            let index = variants[variant] ?? variantsWithoutURI[Self.withoutURI(variant)]
            write(tag, line: index, variant.attributeText(isIFrame: false))
        case .iFrameStreamInf:
            let variant = playlist.iFrameVariants[place]
            write(tag, line: iFrameVariants[variant], variant.attributeText(isIFrame: true))
        case .media:
            let rendition = playlist.renditions[place]
            write(tag, line: renditions[rendition], rendition.attributeText)
        case .sessionData:
            let data = playlist.sessionData[place]
            write(tag, line: sessionData[data], data.attributeText)
        case .sessionKey:
            let key = playlist.sessionKeys[place]
            write(tag, line: sessionKeys[key], key.attributeText)
        default: break
        }
    }

    private mutating func write(_ tag: Tag, line index: Int?, _ attributes: String) {
        if let index, let item = lineOfItem[tag]?[index], canStand(text.line(at: item.start).range) {
            out.raw(text, text.line(at: item.start).range)
        } else {
            out.tag(tag, attributes)
        }
    }

    /// Whether a line has the same meaning here as at its old position. Variables must be defined first.
    private func canStand(_ line: Range<Int>) -> Bool {
        position >= min(line.lowerBound, definitionsEnd) || text[line].firstRange(of: [0x7B, 0x24]) == nil
    }

    private mutating func writeURI(_ variant: VariantStream) {
        if let index = variants[variant], let start = lineOfItem[.streamInf]?[index]?.uriStart,
            canStand(text.line(at: start).range)
        {
            out.raw(text, text.line(at: start).range)
        } else {
            out.line(variant.uri)
        }
    }

    // MARK: Tags that occur once

    private mutating func writeSingle(_ tag: Tag, _ line: PlaylistLine) {
        if isUnchanged(tag) {
            out.raw(text, line.range)
        } else if written.insert(tag).inserted {
            writeValue(tag)
        }
    }

    private func isUnchanged(_ tag: Tag) -> Bool {
        switch tag {
        case .version: playlist.version == original.version
        case .independentSegments: playlist.hasIndependentSegments == original.hasIndependentSegments
        case .start: playlist.start == original.start
        case .define: playlist.definitions == original.definitions
        case .contentSteering: playlist.contentSteering == original.contentSteering
        // Lines that are not readable as items are grouped with others of their kind.
        default: true
        }
    }

    private mutating func writeValue(_ tag: Tag) {
        switch tag {
        case .version: if let version = playlist.version { out.tag(tag, String(version)) }
        case .independentSegments: if playlist.hasIndependentSegments { out.tag(tag) }
        case .start: if let start = playlist.start { out.tag(tag, start.attributeText) }
        case .define: for definition in playlist.definitions { out.tag(tag, definition.attributeText) }
        case .contentSteering:
            if let steering = playlist.contentSteering { out.tag(tag, steering.attributeText) }
        default: break
        }
    }

    private mutating func writeNewSingles(present: Set<Tag>) {
        for tag in [Tag.version, .independentSegments, .define, .start, .contentSteering]
        where !present.contains(tag) && !isUnchanged(tag) {
            writeValue(tag)
        }
    }
}
