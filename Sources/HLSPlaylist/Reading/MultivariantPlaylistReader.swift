/// Reads the lines of a multivariant playlist.
struct MultivariantPlaylistReader {
    private(set) var playlist = MultivariantPlaylist()
    /// Where the items of the playlist stand, for writing.
    private(set) var items: [MultivariantSource.ItemLine] = []
    /// A `STREAM-INF` that waits for its URI line.
    private var pending: (variant: Variant, start: Int)?

    mutating func read(
        _ tag: Tag, _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, line: Range<Int>,
        _ context: inout ReadingContext
    ) throws(PlaylistError) {
        try context.readAttributes(bytes, value)
        let limit = context.options.limits.maximumVariantCount
        switch tag {
        case .streamInf:
            if pending != nil { try context.report(.tagWithoutURI, "the STREAM-INF before has no URI line; ignored") }
            pending = (try Variant(&context, bytes), line.lowerBound)
        case .iFrameStreamInf:
            let variant = try Variant(&context, bytes)
            guard !variant.uri.isEmpty else {
                try context.reportMissing(.uri)
                return
            }
            guard playlist.iFrameVariants.count < limit else { throw context.limit("maximumVariantCount", limit) }
            note(tag, line, playlist.iFrameVariants.count)
            playlist.iFrameVariants.append(variant)
        case .media:
            guard let rendition = try Rendition(&context, bytes) else { return }
            guard playlist.renditions.count < limit else { throw context.limit("maximumVariantCount", limit) }
            note(tag, line, playlist.renditions.count)
            playlist.renditions.append(rendition)
        case .sessionData:
            guard let data = try SessionData(&context, bytes) else { return }
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
        guard case (var variant, let start)? = pending else {
            try context.report(.uriWithoutTag, "a URI without STREAM-INF; ignored")
            return
        }
        pending = nil
        if !context.traits.isEmpty { try context.checkURI(range, bytes) }
        variant.uri = try context.text(range, bytes)
        let limit = context.options.limits.maximumVariantCount
        guard playlist.variants.count < limit else { throw context.limit("maximumVariantCount", limit) }
        items.append(
            .init(start: start, tag: .streamInf, index: playlist.variants.count, uriStart: range.lowerBound))
        playlist.variants.append(variant)
    }

    private mutating func note(_ tag: Tag, _ line: Range<Int>, _ index: Int) {
        items.append(.init(start: line.lowerBound, tag: tag, index: index))
    }

    mutating func finish(_ context: inout ReadingContext) throws(PlaylistError) -> MultivariantPlaylist {
        if pending != nil {
            try context.report(.tagWithoutURI, "has no URI line; ignored", tag: .streamInf)
            pending = nil
        }
        context.line = 0
        try checkReferences(&context)
        return playlist
    }

    /// Every group that a variant names has to exist (SPEC rule 30), and `CLOSED-CAPTIONS=NONE` holds for all or none.
    private func checkReferences(_ context: inout ReadingContext) throws(PlaylistError) {
        struct Group: Hashable {
            var type: Rendition.MediaType
            var id: String
        }
        let groups = Set(playlist.renditions.map { Group(type: $0.type, id: $0.groupID) })
        var missing: Set<Group> = []
        var withoutCaptions = 0
        for variant in playlist.variants {
            var named: [Group] = []
            if let audio = variant.audio { named.append(Group(type: .audio, id: audio)) }
            if let video = variant.video { named.append(Group(type: .video, id: video)) }
            if let subtitles = variant.subtitles { named.append(Group(type: .subtitles, id: subtitles)) }
            switch variant.closedCaptions {
            case .group(let captions)?: named.append(Group(type: .closedCaptions, id: captions))
            case ClosedCaptions.none?: withoutCaptions += 1
            case nil: break
            }
            for group in named where !groups.contains(group) && missing.insert(group).inserted {
                try context.report(
                    .attributeConflict, "there is no \(group.type.rawValue) group \"\(group.id)\"", tag: .streamInf)
            }
        }
        if withoutCaptions > 0, withoutCaptions < playlist.variants.count {
            try context.report(
                .attributeConflict, "CLOSED-CAPTIONS=NONE on some variants and not on all", tag: .streamInf)
        }
    }
}
