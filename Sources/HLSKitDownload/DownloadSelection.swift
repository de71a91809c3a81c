import HLSKitAsset
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// Which playlists of a stream are downloaded.
struct DownloadSelection: Sendable {
    struct Entry: Sendable {
        var lane: DownloadJournal.Lane
        var url: String
        /// The playlist that names it; nil where it is the URL that was given.
        var source: String?
        /// Kinds of media that are taken of it.
        var wanted: Set<MediaKind>
        /// The playlist names audio: what was wanted of it is chosen.
        var hasChosenAudio = false
        /// `CODECS` of the variant that is downloaded, of renditions too.
        var declaredCodecs: [String] = []
    }

    /// Another playlist that could give what a chosen one does not: another variant, or the same rendition of another group.
    struct Alternate: Sendable {
        /// The place of what it can stand for among the entries.
        var target: Int
        var entry: Entry
        /// It can take the place of the chosen one altogether: a variant that goes with the same renditions, or is the same
        /// from another pathway, whose renditions are the same as well.
        var isEquivalent: Bool
        /// It is the same from another place: nothing is lost by it.
        var isRedundant = false
    }

    private(set) var entries: [Entry] = []
    /// Of each entry those of the same quality first (redundant ones), then the next best.
    private(set) var alternates: [Alternate] = []
    private(set) var variables: [String: String] = [:]

    /// A media playlist by itself.
    init(mediaPlaylistAt url: String, includesVideo: Bool = true) {
        let lane = DownloadJournal.Lane(id: "main", kind: .main)
        entries = [Entry(lane: lane, url: url, wanted: includesVideo ? [.video, .audio] : [.audio])]
    }

    init(_ configuration: DownloadConfiguration, of playlist: MultivariantPlaylist) throws(HLSError) {
        variables = playlist.variables
        defer {
            let isChosen = playlist.renditions.contains { $0.type == .audio }
            for index in entries.indices { entries[index].hasChosenAudio = isChosen }
        }
        let (variant, same, others) = try Self.variants(configuration, configuration.quality, of: playlist)
        defer { for index in entries.indices { entries[index].declaredCodecs = variant.codecs } }
        let languages = LanguageTag.preferred(configuration.preferredLanguages, by: configuration.loading.clock)
        let audio = try Self.renditions(
            configuration.audio, .audio, group: variant.audio, variant: variant, of: playlist, languages: languages)
        let subtitles = try Self.renditions(
            configuration.subtitles, .subtitles, group: variant.subtitles, variant: variant, of: playlist)
        if !configuration.includesVideo {
            try addSound(audio, of: variant, in: playlist)
            for rendition in subtitles { try add(rendition, .subtitles, [.text], of: playlist) }
            return
        }
        let view = playlist.playedRendition(.video, group: variant.video, besides: variant.uri)?.uri ?? variant.uri
        var lane = DownloadJournal.Lane(variant)
        var wanted: Set<MediaKind> = [.video]
        let hasOwnSound = variant.audio == nil || playlist.renditions(.audio, groupID: variant.audio ?? "").isEmpty
        let isOwn = { (rendition: Rendition) in rendition.uri == nil || rendition.uri == variant.uri }
        if let own = audio.first(where: isOwn) {
            wanted.insert(.audio)
            lane.language = own.language
        } else if hasOwnSound, configuration.audio != .none {
            wanted.insert(.audio)
        }
        try add(lane, view, wanted, of: playlist)
        addAlternates(same, others, of: variant, in: playlist)
        try addAuxiliary(configuration, besides: variant, in: playlist)
        for rendition in audio where !isOwn(rendition) { try add(rendition, .audio, [.audio], of: playlist) }
        for rendition in subtitles { try add(rendition, .subtitles, [.text], of: playlist) }
    }

    /// What can stand for the variant that was added last.
    ///
    /// - Parameter same: the same from other places.
    private mutating func addAlternates(
        _ same: [VariantStream], _ others: [VariantStream], of variant: VariantStream, in playlist: MultivariantPlaylist
    ) {
        guard variant.video == nil, let entry = entries.last else { return }
        for (number, other) in (same + others).enumerated() where Self.isAlike(other, variant) {
            let isSame = number < same.count
            guard let url = playlist.resolve(other.uri), url != entry.url else { continue }
            var lane = DownloadJournal.Lane(other)
            lane.language = entry.lane.language
            lane.isAuxiliary = entry.lane.isAuxiliary
            alternates.append(
                Alternate(
                    target: entries.count - 1,
                    entry: Entry(lane: lane, url: url, source: playlist.url, wanted: entry.wanted),
                    isEquivalent: isSame || other.audio == variant.audio && other.subtitles == variant.subtitles,
                    isRedundant: isSame))
        }
    }

    /// Further variants, which go with the renditions of the first.
    private mutating func addAuxiliary(
        _ configuration: DownloadConfiguration, besides first: VariantStream, in playlist: MultivariantPlaylist
    ) throws(HLSError) {
        let (language, wanted) = (entries[0].lane.language, entries[0].wanted)
        for quality in configuration.auxiliaryQualities {
            let taken = Set(entries.map(\.url))
            let (variant, same, others) = try Self.variants(configuration, quality, of: playlist) { variant in
                Self.isAlike(variant, first) && playlist.resolve(variant.uri).map { !taken.contains($0) } ?? true
            }
            let view =
                playlist.playedRendition(.video, group: variant.video, besides: variant.uri)?.uri ?? variant.uri
            var lane = DownloadJournal.Lane(variant)
            lane.language = language
            lane.isAuxiliary = true
            guard !entries.contains(where: { $0.lane.id == lane.id }) else { continue }
            try add(lane, view, wanted, of: playlist)
            addAlternates(same, others, of: variant, in: playlist)
        }
    }

    /// Whether two variants carry their sound and their view in the same way.
    private static func isAlike(_ one: VariantStream, _ other: VariantStream) -> Bool {
        (one.audio == nil) == (other.audio == nil) && one.video == other.video
    }

    /// The sound by itself: the first rendition takes the place of the variant. Where none has a playlist of its own, the
    /// variant is loaded for its sound.
    private mutating func addSound(
        _ audio: [Rendition], of variant: VariantStream, in playlist: MultivariantPlaylist
    ) throws(HLSError) {
        let separate = audio.filter { $0.uri != nil && $0.uri != variant.uri }
        guard let first = separate.first, let uri = first.uri else {
            var lane = DownloadJournal.Lane(variant)
            lane.id += "|sound"
            return try add(lane, variant.uri, [.audio], of: playlist)
        }
        var lane = Self.lane(of: first, .main)
        lane.bandwidth = 0
        try add(lane, uri, [.audio], of: playlist)
        for rendition in separate.dropFirst() { try add(rendition, .audio, [.audio], of: playlist) }
    }

    private mutating func add(
        _ lane: DownloadJournal.Lane, _ uri: String, _ wanted: Set<MediaKind>, of playlist: MultivariantPlaylist
    ) throws(HLSError) {
        guard let url = playlist.resolve(uri) else {
            throw HLSError(
                code: .badPlaylist, urlString: playlist.url, cause: "a URI cannot be resolved",
                detail: uri.escapingControls)
        }
        entries.append(Entry(lane: lane, url: url, source: playlist.url, wanted: wanted))
    }

    private mutating func add(
        _ rendition: Rendition, _ kind: DownloadJournal.Lane.Kind, _ wanted: Set<MediaKind>,
        of playlist: MultivariantPlaylist
    ) throws(HLSError) {
        let lane = Self.lane(of: rendition, kind)
        // Listed twice it is one: the other URL is asked where the first does not give something.
        guard let uri = rendition.uri, !entries.contains(where: { $0.lane.id == lane.id }) else { return }
        try add(lane, uri, wanted, of: playlist)
        let target = entries.count - 1
        var urls: Set<String> = [entries[target].url]
        let twins = playlist.renditions.filter { $0.type == rendition.type && $0.optionID == rendition.optionID }
        let isAlike = { (other: Rendition) in other.channels == rendition.channels }
        for other in twins.filter(isAlike) + twins.filter({ !isAlike($0) }) {
            guard let url = other.uri.flatMap(playlist.resolve), urls.insert(url).inserted else { continue }
            let entry = Entry(lane: Self.lane(of: other, kind), url: url, source: playlist.url, wanted: wanted)
            alternates.append(
                Alternate(target: target, entry: entry, isEquivalent: true, isRedundant: isAlike(other)))
        }
    }

    private static func lane(
        of rendition: Rendition, _ kind: DownloadJournal.Lane.Kind
    ) -> DownloadJournal.Lane {
        var lane = DownloadJournal.Lane(
            id: "\(kind.rawValue)|\(rendition.groupID)|\(rendition.optionID)", kind: kind)
        lane.language = rendition.language
        lane.name = rendition.name
        lane.isDefault = rendition.isDefault
        lane.isForced = rendition.isForced
        lane.characteristics = rendition.characteristicsText
        lane.channels = rendition.channels
        return lane
    }

    /// Takes another playlist in the place of the chosen one.
    mutating func take(_ alternate: Alternate) {
        var entry = alternate.entry
        entry.hasChosenAudio = entries[alternate.target].hasChosenAudio
        // Of a variant that is stored beside it, too, it is a copy with files of its own.
        let isTaken = entries.indices.contains { $0 != alternate.target && entries[$0].lane.id == entry.lane.id }
        if isTaken { entry.lane.id += "|instead of \(alternate.target)" }
        entries[alternate.target] = entry
        alternates.removeAll { $0.target == alternate.target && $0.entry.url == alternate.entry.url }
    }

    // MARK: Choosing

    /// The variant that is wanted, the same from other places, and the others that would do, the best replacement first.
    ///
    /// - Parameter isPossible: whether a variant may be chosen.
    private static func variants(
        _ configuration: DownloadConfiguration, _ quality: QualityExpression?, of playlist: MultivariantPlaylist,
        isPossible: (VariantStream) -> Bool = { _ in true }
    ) throws(HLSError) -> (chosen: VariantStream, same: [VariantStream], others: [VariantStream]) {
        var context = SelectionContext()
        context.isPassThrough = true
        context.quality = quality
        let candidates = AssetVariant.list(of: playlist).filter { isPossible(playlist.variants[$0.index]) }
        let all = VariantEligibility(candidates, in: context).eligible
        // Without pictures, only how the sound is carried tells variants apart.
        let sound = SoundOnlyRule(wantsBest: true).choose(from: all) { variant in
            let group = playlist.variants[variant.index].audio.map { playlist.renditions(.audio, groupID: $0) } ?? []
            return group.contains { $0.uri != nil && $0.uri != playlist.variants[variant.index].uri }
        }
        let eligible = configuration.includesVideo ? all : sound.map { [$0] } ?? []
        // Of equals that of the pathway to begin with, else the first: redundant streams come later in the list.
        let best = eligible.sortedByQuality().last
        let equals = eligible.filter {
            $0.bandwidth == best?.bandwidth && $0.resolution == best?.resolution && $0.score == best?.score
        }
        let pathway = playlist.contentSteering?.pathwayID
        let chosen = equals.first { pathway != nil && $0.pathwayID == pathway } ?? equals.first
        guard let chosen else {
            let cause = quality.map { "no variant matches \"\($0)\"" } ?? "no variant can be downloaded"
            throw HLSError(
                code: .noEligibleVariant, urlString: playlist.url, cause: cause,
                detail: candidates.offer)
        }
        let others = eligible.sortedByQuality().reversed().filter { $0.index != chosen.index }
        let isAlike = { (other: AssetVariant) in
            other.resolution == chosen.resolution && other.bandwidth == chosen.bandwidth
        }
        let same = others.filter { RedundantVariants.areSame($0, chosen) }
        let rest = others.filter { other in !same.contains { $0.index == other.index } }
        return (
            playlist.variants[chosen.index], same.sorted { $0.index < $1.index }.map { playlist.variants[$0.index] },
            (rest.filter(isAlike) + rest.filter { !isAlike($0) }).map { playlist.variants[$0.index] }
        )
    }

    private static func renditions(
        _ choice: DownloadConfiguration.Choice, _ type: Rendition.MediaType, group: String?, variant: VariantStream,
        of playlist: MultivariantPlaylist, languages: [String] = []
    ) throws(HLSError) -> [Rendition] {
        let members = group.map { playlist.renditions(type, groupID: $0) } ?? []
        switch choice {
        case .none: return []
        case .all: return members
        case .automatic:
            let characteristic: MediaCharacteristic = type == .audio ? .audible : .legible
            guard !members.isEmpty,
                let all = MediaSelectionGroup(characteristic, of: playlist, canDecode: { _ in true }),
                let option = MediaSelectionRule(
                    criteria: languages.isEmpty ? nil : MediaSelectionCriteria(preferredLanguages: languages)
                ).choose(from: all)
            else { return [] }
            return option.rendition(in: members).map { [$0] } ?? []
        // Audio that no playlist names is chosen when the file is made.
        case .matching where type == .audio && !playlist.renditions.contains { $0.type == .audio }: return []
        case .matching(let expressions):
            let candidates = members.enumerated().map { index, rendition in
                RenditionCandidate(
                    index: index, language: rendition.language, name: rendition.name,
                    channelCount: rendition.channelCount, codecs: [], isForced: rendition.isForced,
                    channelUsage: rendition.declaredChannelUsage, characteristics: rendition.characteristics)
            }
            var found: [Int] = []
            for expression in expressions {
                guard let index = expression.matches(candidates).first else {
                    let what = type == .audio ? "audio" : "subtitles"
                    let names = members.map { "\($0.name) (\($0.language ?? "-"))" }.joined(separator: ", ")
                    throw HLSError(
                        code: .noEligibleVariant, urlString: playlist.url,
                        cause: "no \(what) rendition matches \"\(expression)\"",
                        detail: names.isEmpty ? "none available" : "available: \(names)")
                }
                if !found.contains(index) { found.append(index) }
            }
            return found.map { members[$0] }
        }
    }
}

extension DownloadJournal.Lane {
    fileprivate init(_ variant: VariantStream) {
        self.init(id: variant.downloadID, kind: .main)
        bandwidth = variant.bandwidth
        averageBandwidth = variant.averageBandwidth ?? 0
        frameRate = variant.frameRate.map { "\($0)" }
        codecs = variant.codecsText
        resolution = variant.resolution.map { "\($0.width)x\($0.height)" }
        videoRange = variant.videoRange?.rawValue
    }
}

extension VariantStream {
    /// The same in every playlist that describes the same variant, whatever its URI.
    fileprivate var downloadID: String {
        if let stableVariantID { return "main|\(stableVariantID)" }
        let size = resolution.map { "\($0.width)x\($0.height)" } ?? ""
        return "main|\(bandwidth)|\(size)|\(codecsText ?? "")|\(frameRate ?? 0)|\(effectiveVideoRange.rawValue)"
    }
}
