package import HLSKitLoading
package import HLSKitMedia
package import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension FileMetadata {
    /// The names for keys without a common meaning, or with a more exact one.
    private static let names: [String: String] = [
        "creation_time": "creation_time", "mvhd": "creation_time",
        // iTunes
        "©cmt": "comment", "©gen": "genre", "aART": "album_artist", "ldes": "synopsis", "©lyr": "lyrics",
        "©grp": "grouping", "tvsh": "show", "tven": "episode_id", "tvnn": "network", "keyw": "keywords",
        // 3GPP
        "gnre": "genre",
        // ID3
        "COMM": "comment", "COM": "comment", "TCON": "genre", "TCO": "genre", "TPE2": "album_artist",
        // QuickTime
        "com.apple.quicktime.comment": "comment", "com.apple.quicktime.genre": "genre",
        "com.apple.quicktime.keywords": "keywords",
    ]

    private static let commonNames: [CommonMetadataKey: String] = [
        .title: "title", .artist: "artist", .albumName: "album", .creationDate: "date", .description: "description",
        .copyrights: "copyright", .creator: "composer", .author: "author", .publisher: "publisher",
        .subject: "keywords", .type: "genre",
    ]

    /// The names that have the same meaning in all containers. Others describe the file that they are in.
    private static let writtenNames = Set(names.values).union(commonNames.values)

    static func commonKey(ofName name: String) -> CommonMetadataKey? {
        name == "encoder" ? .software : commonNames.first { $0.value == name }?.key
    }

    /// The name of an item in files, or `nil` if it is not written to files.
    fileprivate static func name(of item: MetadataItem) -> String? {
        if item.format == .libavformat, item.commonKey != .software, writtenNames.contains(item.key) { return item.key }
        return names[item.key] ?? item.commonKey.flatMap { commonNames[$0] }
    }
}

extension AssetInspector {
    /// Loads the metadata to write to files of the asset, and returns the first error if some of it could not be
    /// loaded.
    package func fileMetadata(_ languages: [String]) async throws -> (FileMetadata, HLSError?) {
        switch try await opened() {
        case .media: return (FileMetadata(), nil)
        case .multivariant(let playlist): return try await fileMetadata(of: playlist, languages)
        case .file(let file):
            var loaded = try await fileMetadata(try await metadata(), languages) { [self] in try await chapters() }
            // It is not an item of the asset if there is a better date.
            if case .mp4(_, let data, _) = file.content, let time = data.creationTime {
                loaded.0.add(PlaylistDate(seconds: time).description, for: "creation_time")
            }
            return loaded
        }
    }

    package func fileMetadata(
        of playlist: MultivariantPlaylist, _ languages: [String]
    ) async throws -> (FileMetadata, HLSError?) {
        try await fileMetadata(MetadataItem.items(of: playlist, inspector: self), languages) { [self] in
            try await chapters(of: playlist)
        }
    }

    private func fileMetadata(
        _ items: [MetadataItem], _ languages: [String], _ loadChapters: () async throws -> Chapters
    ) async throws -> (FileMetadata, HLSError?) {
        var metadata = FileMetadata()
        var failure: HLSError?
        var names: [String] = []
        for item in items {
            if let name = FileMetadata.name(of: item), !names.contains(name) { names.append(name) }
        }
        for name in names {
            let same = items.filter { FileMetadata.name(of: $0) == name }
            let preferred = MetadataItem.metadataItems(
                from: same, filteredAndSortedAccordingToPreferredLanguages: languages)
            guard let item = preferred.first ?? same.first else { continue }
            do throws(HLSError) {
                if let text = try await item.load(.stringValue) { metadata.add(text, for: name) }
            } catch {
                if error.code == .cancelled { throw error }
                failure = failure ?? error
            }
        }
        do {
            metadata.add(try await loadChapters(), languages)
        } catch let error as HLSError where error.code != .cancelled {
            failure = failure ?? error
        }
        return (metadata, failure)
    }
}

extension FileMetadata {
    fileprivate mutating func add(_ chapters: Chapters, _ languages: [String]) {
        let locales = chapters.locales
        guard let locale = LanguageTag.bestMatch(for: languages, among: locales) ?? locales.first else { return }
        for group in chapters.groups(locale: locale) {
            guard let start = group.timeRange.start.duration else { continue }
            var title = ""
            if case .string(let text)? = group.items.first(where: { $0.commonKey == .title })?.heldValue {
                title = text
            }
            add(Chapter(start: start, end: group.timeRange.end.duration, title: title))
        }
    }
}

extension Asset {
    package func loadFileMetadata(_ languages: [String]) async throws(HLSError) -> (FileMetadata, HLSError?) {
        try await HLSError.typed { try await inspector.fileMetadata(languages) }
    }
}
