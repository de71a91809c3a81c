/// Reads the lines of a multivariant playlist.
struct MultivariantPlaylistReader {
    private(set) var playlist = MultivariantPlaylist()
    private(set) var items: [MultivariantSource.ItemLine] = []
    /// The offset of the last variant's `STREAM-INF` while its URI line is missing.
    private var pending: Int?
    /// The template of new variants, because appending a copy of it costs less than creating one and moving it.
    private let emptyVariant = VariantStream(uri: "", bandwidth: 0)

    var variants: [VariantStream] { pending == nil ? playlist.variants : playlist.variants.dropLast() }

    mutating func read(
        _ tag: Tag, _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, line: Range<Int>,
        _ context: inout ReadingContext
    ) throws(PlaylistError) {
        context.beginAttributes(value)
        let limit = context.options.limits.maximumVariantCount
        switch tag {
        case .streamInf:
            if pending != nil {
                try context.report(.tagWithoutURI, "the previous STREAM-INF has no URI line; ignored")
                playlist.variants.removeLast()
            }
            guard playlist.variants.count < limit else { throw context.limit("maximumVariantCount", limit) }
            let index = playlist.variants.count
            playlist.variants.append(emptyVariant)
            try playlist.variants[index].read(&context, bytes)
            pending = line.lowerBound
        case .iFrameStreamInf:
            let index = playlist.iFrameVariants.count
            guard index < limit else { throw context.limit("maximumVariantCount", limit) }
            playlist.iFrameVariants.append(emptyVariant)
            try playlist.iFrameVariants[index].read(&context, bytes)
            guard !playlist.iFrameVariants[index].uri.isEmpty else {
                try context.reportMissing(.uri)
                playlist.iFrameVariants.removeLast()
                return
            }
            note(tag, line, index)
        case .media:
            let index = playlist.renditions.count
            guard index < limit else { throw context.limit("maximumVariantCount", limit) }
            playlist.renditions.append(Rendition(type: .init(rawValue: ""), groupID: "", name: ""))
            guard try playlist.renditions[index].read(&context, bytes) else {
                playlist.renditions.removeLast()
                return
            }
            note(tag, line, index)
        case .sessionData:
            guard let data = try MultivariantPlaylist.SessionData(&context, bytes) else { return }
            guard playlist.sessionData.count < limit else { throw context.limit("maximumVariantCount", limit) }
            note(tag, line, playlist.sessionData.count)
            playlist.sessionData.append(data)
        case .sessionKey:
            guard let key = try EncryptionKey(&context, bytes) else { return }
            guard playlist.sessionKeys.count < limit else { throw context.limit("maximumVariantCount", limit) }
            note(tag, line, playlist.sessionKeys.count)
            playlist.sessionKeys.append(key)
        case .contentSteering:
            guard playlist.contentSteering == nil else {
                try context.report(.repeatedTag, "occurs again; the first one counts")
                return
            }
            playlist.contentSteering = try ContentSteering(&context, bytes)
            if playlist.contentSteering != nil { note(tag, line, 0) }
        default: break
        }
    }

    mutating func readURI(
        _ bytes: borrowing Span<UInt8>, _ range: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        guard let start = pending else {
            try context.report(.uriWithoutTag, "a URI without STREAM-INF; ignored")
            return
        }
        let index = playlist.variants.count - 1
        playlist.variants[index].uri = try context.uri(range, bytes)
        pending = nil
        items.append(.init(start: start, tag: .streamInf, index: index, uriStart: range.lowerBound))
    }

    private mutating func note(_ tag: Tag, _ line: Range<Int>, _ index: Int) {
        items.append(.init(start: line.lowerBound, tag: tag, index: index))
    }

    mutating func finish(_ context: inout ReadingContext) throws(PlaylistError) -> MultivariantPlaylist {
        if pending != nil {
            try context.report(.tagWithoutURI, "has no URI line; ignored", tag: .streamInf)
            playlist.variants.removeLast()
            pending = nil
        }
        context.line = 0
        try checkReferences(&context)
        return playlist
    }

    /// Every group that a variant names must exist (rule 30), and `CLOSED-CAPTIONS=NONE` must be on all variants or
    /// none.
    private func checkReferences(_ context: inout ReadingContext) throws(PlaylistError) {
        var groups = GroupNames(playlist.renditions)
        var withoutCaptions = 0
        // Variants of one group are mostly adjacent. Properties are read one by one because a variant is large.
        for index in playlist.variants.indices {
            if let audio = playlist.variants[index].audio, groups.audio.isNew(audio) {
                try reportMissing(.audio, audio, &context)
            }
            if let video = playlist.variants[index].video, groups.video.isNew(video) {
                try reportMissing(.video, video, &context)
            }
            if let subtitles = playlist.variants[index].subtitles, groups.subtitles.isNew(subtitles) {
                try reportMissing(.subtitles, subtitles, &context)
            }
            switch playlist.variants[index].closedCaptions {
            case ClosedCaptions.none?: withoutCaptions += 1
            case .group(let group)?:
                if groups.closedCaptions.isNew(group) { try reportMissing(.closedCaptions, group, &context) }
            case nil: break
            }
        }
        if withoutCaptions > 0, withoutCaptions < playlist.variants.count {
            try context.report(
                .attributeConflict, "CLOSED-CAPTIONS=NONE on some variants and not on all", tag: .streamInf)
        }
    }

    private func reportMissing(
        _ type: Rendition.MediaType, _ name: String, _ context: inout ReadingContext
    ) throws(PlaylistError) {
        try context.report(.attributeConflict, "there is no \(type.rawValue) group \"\(name)\"", tag: .streamInf)
    }
}

private struct GroupNames {
    struct Names {
        private var all: Set<String> = []
        /// The first few names, because comparing with them costs less than a hash.
        private var first: [String] = []

        mutating func insert(_ name: String) { _ = isNew(name) }

        /// Whether the name is new. Inserts it.
        mutating func isNew(_ name: String) -> Bool {
            guard !first.contains(name), all.insert(name).inserted else { return false }
            if first.count < 8 { first.append(name) }
            return true
        }
    }

    var audio = Names()
    var video = Names()
    var subtitles = Names()
    var closedCaptions = Names()

    init(_ renditions: [Rendition]) {
        for index in renditions.indices {
            switch renditions[index].type {
            case .audio: audio.insert(renditions[index].groupID)
            case .video: video.insert(renditions[index].groupID)
            case .subtitles: subtitles.insert(renditions[index].groupID)
            case .closedCaptions: closedCaptions.insert(renditions[index].groupID)
            default: break
            }
        }
    }
}
