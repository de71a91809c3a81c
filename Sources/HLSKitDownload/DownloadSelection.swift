import HLSKitAsset
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

struct DownloadSelection: Sendable {
    struct Entry: Sendable {
        var lane: DownloadJournal.Lane
        var url: String
        /// The playlist that names it, or `nil` for the given URL.
        var source: String?
        var wanted: Set<MediaKind>
        /// Whether the playlist names audio, so that the wanted audio has been selected.
        var hasChosenAudio = false
        /// The `CODECS` of the downloaded variant, also for its renditions.
        var declaredCodecs: [String] = []
    }

    /// Another playlist that could replace a chosen one: another variant, or the same rendition in another group.
    struct Alternate: Sendable {
        var target: Int
        var entry: Entry
        /// Whether the playlist can replace the chosen playlist completely.
        ///
        /// It can if it is a variant with the same renditions, or a copy on another pathway, whose renditions are
        /// copies too.
        var isEquivalent: Bool
        /// Whether it is a copy from another source, without loss of quality.
        var isRedundant = false
    }

    static let onlyLaneID = "main"

    private(set) var entries: [Entry] = []
    /// For each entry, its alternates of the same quality (redundant ones), then the next best.
    private(set) var alternates: [Alternate] = []
    private(set) var variables: [String: String] = [:]

    init(mediaPlaylistAt url: String, includesVideo: Bool = true) {
        let lane = DownloadJournal.Lane(id: Self.onlyLaneID, kind: .main)
        entries = [Entry(lane: lane, url: url, wanted: includesVideo ? [.video, .audio] : [.audio])]
    }

    /// - Parameters:
    ///   - listed: The lanes that the folder's playlists list, or an empty array for a new download. The selection adds
    ///     to them: their variant stays the first one, and automatic audio is the audio that is there.
    ///   - refusal: The error if the playlist does not have the folder's variant.
    init(
        _ configuration: DownloadConfiguration, of playlist: MultivariantPlaylist,
        addingTo listed: [DownloadJournal.Lane] = [], orThrow refusal: HLSError? = nil
    ) throws(HLSError) {
        variables = playlist.variables
        defer {
            let isChosen = playlist.renditions.contains { $0.type == .audio }
            for index in entries.indices { entries[index].hasChosenAudio = isChosen }
        }
        var (configuration, qualities) = (configuration, configuration.auxiliaryQualities)
        let base = try Self.base(of: listed, in: playlist, orThrow: refusal)
        if let base {
            guard base.hasVideo || !configuration.includesVideo else {
                throw HLSError(
                    code: .unsupported, urlString: playlist.url, cause: "the folder holds audio only",
                    detail: "choose another folder for video")
            }
            if !configuration.includesVideo {
                qualities = []
            } else if let quality = configuration.quality {
                let chosen = try Self.variants(configuration, quality, of: playlist).chosen
                if chosen.downloadID != base.variantID { qualities.insert(quality, at: 0) }
            }
            (configuration.quality, configuration.includesVideo) = (nil, base.hasVideo)
        }
        let (variant, same, others) = try Self.variants(
            configuration, configuration.quality, id: base?.variantID, of: playlist)
        defer { for index in entries.indices { entries[index].declaredCodecs = variant.codecs } }
        let isOwn = { (rendition: Rendition) in rendition.uri == nil || rendition.uri == variant.uri }
        let languages = LanguageTag.preferred(configuration.preferredLanguages, by: configuration.loading.clock)
        var audio: [Rendition] = []
        if configuration.audio == .automatic, let base, let group = variant.audio {
            audio = playlist.renditions(.audio, groupID: group).filter {
                base.isStored($0, among: listed, isInVariant: isOwn($0))
            }
        }
        if audio.isEmpty {
            audio = try Self.renditions(
                configuration.audio, .audio, group: variant.audio, variant: variant, of: playlist, languages: languages)
        }
        let subtitles = try Self.renditions(
            configuration.subtitles, .subtitles, group: variant.subtitles, variant: variant, of: playlist)
        if !configuration.includesVideo {
            try addAudio(audio, of: variant, in: playlist, base)
            for rendition in subtitles { try add(rendition, .subtitles, [.text], of: playlist) }
            return
        }
        let view = try Self.view(of: variant, in: playlist, configuration.video, base)
        var lane = DownloadJournal.Lane(variant)
        lane.id += view.ending
        var wanted: Set<MediaKind> = [.video]
        let hasOwnAudio = variant.audio == nil || playlist.renditions(.audio, groupID: variant.audio ?? "").isEmpty
        if let own = audio.first(where: isOwn) {
            wanted.insert(.audio)
            lane.describe(own)
        } else if let stored = base?.lane, stored.name != nil {
            // The stored segments still contain this audio.
            lane.describe(stored)
        } else if hasOwnAudio, configuration.audio != .none {
            wanted.insert(.audio)
        }
        try add(lane, view.uri, wanted, of: playlist)
        addAlternates(same, others, of: variant, in: playlist)
        try addAuxiliary(configuration, qualities, except: variant, in: playlist, base)
        for rendition in audio where !isOwn(rendition) { try add(rendition, .audio, [.audio], of: playlist) }
        for rendition in subtitles { try add(rendition, .subtitles, [.text], of: playlist) }
    }

    /// Adds the alternates of the variant that was added last.
    ///
    /// - Parameter same: The copies of the variant from other sources.
    private mutating func addAlternates(
        _ same: [VariantStream], _ others: [VariantStream], of variant: VariantStream, in playlist: MultivariantPlaylist
    ) {
        guard variant.video == nil, let entry = entries.last else { return }
        for (number, other) in (same + others).enumerated() where Self.isAlike(other, variant) {
            let isSame = number < same.count
            guard let url = playlist.resolve(other.uri), url != entry.url else { continue }
            var lane = DownloadJournal.Lane(other)
            lane.describe(entry.lane)
            lane.isAuxiliary = entry.lane.isAuxiliary
            alternates.append(
                Alternate(
                    target: entries.count - 1,
                    entry: Entry(lane: lane, url: url, source: playlist.url, wanted: entry.wanted),
                    isEquivalent: isSame || other.audio == variant.audio && other.subtitles == variant.subtitles,
                    isRedundant: isSame))
        }
    }

    private mutating func addAuxiliary(
        _ configuration: DownloadConfiguration, _ qualities: [QualityExpression], except first: VariantStream,
        in playlist: MultivariantPlaylist, _ base: Base?
    ) throws(HLSError) {
        let (language, wanted) = (entries[0].lane.language, entries[0].wanted)
        for quality in qualities {
            let taken = Set(entries.map(\.url))
            let (variant, same, others) = try Self.variants(configuration, quality, of: playlist) { variant in
                Self.isAlike(variant, first) && playlist.resolve(variant.uri).map { !taken.contains($0) } ?? true
            }
            let view = try Self.view(of: variant, in: playlist, configuration.video, base)
            var lane = DownloadJournal.Lane(variant)
            lane.id += view.ending
            lane.language = language
            lane.isAuxiliary = true
            guard !entries.contains(where: { $0.lane.id == lane.id }) else { continue }
            try add(lane, view.uri, wanted, of: playlist)
            addAlternates(same, others, of: variant, in: playlist)
        }
    }

    /// Whether two variants carry their audio in the same way and have the same video group.
    private static func isAlike(_ one: VariantStream, _ other: VariantStream) -> Bool {
        (one.audio == nil) == (other.audio == nil) && one.video == other.video
    }

    /// Selects audio only. The first rendition, or the folder's, replaces the variant. If no rendition has a separate
    /// playlist, the variant is loaded for its audio.
    private mutating func addAudio(
        _ audio: [Rendition], of variant: VariantStream, in playlist: MultivariantPlaylist, _ base: Base?
    ) throws(HLSError) {
        var separate = audio.filter { $0.uri != nil && $0.uri != variant.uri }
        let first = base == nil ? separate.first : base?.rendition
        if let first, let uri = first.uri {
            let lane = Self.lane(of: first, .main)
            try add(lane, uri, [.audio], of: playlist)
            separate.removeAll { Self.lane(of: $0, .main).id == lane.id }
        } else {
            var lane = DownloadJournal.Lane(variant)
            lane.id += Self.audioEnding
            if let own = audio.first(where: { $0.uri == nil || $0.uri == variant.uri }) {
                lane.describe(own)
            } else if let base {
                lane.describe(base.lane)
            }
            try add(lane, variant.uri, [.audio], of: playlist)
        }
        for rendition in separate { try add(rendition, .audio, [.audio], of: playlist) }
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
        // A rendition listed twice is added once. Its other URL is an alternate.
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

    static func lane(
        of rendition: Rendition, _ kind: DownloadJournal.Lane.Kind
    ) -> DownloadJournal.Lane {
        var lane = DownloadJournal.Lane(
            id: "\(kind.rawValue)|\(rendition.groupID)|\(rendition.optionID)", kind: kind)
        lane.describe(rendition)
        return lane
    }

    mutating func take(_ alternate: Alternate) {
        var entry = alternate.entry
        entry.hasChosenAudio = entries[alternate.target].hasChosenAudio
        // If another entry is the same variant, this copy needs separate files.
        let isTaken = entries.indices.contains { $0 != alternate.target && entries[$0].lane.id == entry.lane.id }
        if isTaken { entry.lane.id += "|instead of \(alternate.target)" }
        entries[alternate.target] = entry
        alternates.removeAll { $0.target == alternate.target && $0.entry.url == alternate.entry.url }
    }

    // MARK: Choosing

    /// The selected variant, its copies from other sources, and other suitable variants, the best replacement first.
    ///
    /// - Parameters:
    ///   - id: The ID of the variant to select, or `nil` for the best one.
    ///   - isPossible: Returns whether a variant may be selected.
    private static func variants(
        _ configuration: DownloadConfiguration, _ quality: QualityExpression?, id: String? = nil,
        of playlist: MultivariantPlaylist, isPossible: (VariantStream) -> Bool = { _ in true }
    ) throws(HLSError) -> (chosen: VariantStream, same: [VariantStream], others: [VariantStream]) {
        var context = SelectionContext()
        context.isPassThrough = true
        context.quality = quality
        let candidates = AssetVariant.list(of: playlist).filter { isPossible(playlist.variants[$0.index]) }
        let all = VariantEligibility(candidates, in: context).eligible
        // Without video, variants differ only in how they carry the audio.
        let audio = AudioOnlyRule(wantsBest: true).choose(from: all) { variant in
            let group = playlist.variants[variant.index].audio.map { playlist.renditions(.audio, groupID: $0) } ?? []
            return group.contains { $0.uri != nil && $0.uri != playlist.variants[variant.index].uri }
        }
        let eligible = configuration.includesVideo || id != nil ? all : audio.map { [$0] } ?? []
        let wanted = id.map { id in eligible.filter { playlist.variants[$0.index].downloadID == id } } ?? eligible
        // Among equals, prefer the initial pathway, then the first listed, because redundant streams are listed later.
        let best = wanted.sortedByQuality().last
        let equals = wanted.filter {
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

    /// Returns the playlist of a variant's video, and the ending of the lane's ID if it is not the usual one.
    private static func view(
        of variant: VariantStream, in playlist: MultivariantPlaylist, _ preference: QualityExpression?, _ base: Base?
    ) throws(HLSError) -> (uri: String, ending: String) {
        let members = variant.video.map { playlist.renditions(.video, groupID: $0) } ?? []
        let usual = members.first { $0.isDefault } ?? members.first { $0.isAutoselect } ?? members.first
        var chosen = usual
        if let preference {
            let group = variant.video
            chosen = try renditions(.matching([preference]), .video, group: group, variant: variant, of: playlist).first
        } else if let base {
            chosen = members.first { viewMark + $0.optionID == base.view } ?? usual
        }
        guard let chosen else { return (variant.uri, "") }
        let ending = chosen.optionID == usual?.optionID ? "" : viewMark + chosen.optionID
        if let base, ending != base.view {
            throw HLSError(
                code: .unsupported, urlString: playlist.url, cause: "the folder holds another video rendition",
                detail: "choose another folder for \(chosen.name)")
        }
        return (chosen.uri ?? variant.uri, ending)
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
        // Audio that no playlist names is selected when the file is written.
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
                    let what = type == .audio ? "audio" : type == .video ? "video" : "subtitles"
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

    fileprivate mutating func describe(_ rendition: Rendition) {
        language = rendition.language
        name = rendition.name
        isDefault = rendition.isDefault
        isForced = rendition.isForced
        characteristics = rendition.characteristicsText
        channels = rendition.channels
    }

    fileprivate mutating func describe(_ other: Self) {
        (language, name, isDefault, isForced) = (other.language, other.name, other.isDefault, other.isForced)
        (characteristics, channels) = (other.characteristics, other.channels)
    }
}

extension VariantStream {
    /// An ID that is the same in all playlists that describe the same variant, independent of its URI.
    var downloadID: String {
        if let stableVariantID { return "main|\(stableVariantID)" }
        let size = resolution.map { "\($0.width)x\($0.height)" } ?? ""
        return "main|\(bandwidth)|\(size)|\(codecsText ?? "")|\(frameRate ?? 0)|\(effectiveVideoRange.rawValue)"
    }
}
