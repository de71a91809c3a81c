import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Decides where a lane goes that is not delivered: to another variant, or to the same option of another group.
///
/// `docs/behaviour/failures.md` says what leads where.
struct Failover: Sendable {
    // What is played.
    /// nil without a multivariant playlist.
    var sources: VariantSources?
    var candidates: [AssetVariant] = []
    /// Index, URI and `BANDWIDTH` in bits per second of the variant in use.
    var current: Int?
    var currentURI: String?
    var bandwidth = 0.0
    /// The media playlists of the lanes.
    var mainURL: String?
    var audioURL: String?
    var subtitlesURL: String?
    /// The item time at which the variant's next segment begins.
    var place = Duration.zero
    /// Audio inside the variant is loaded beside its frames.
    var loadsAudioOfVariant = false
    /// No other variant may take the place of the one that is kept.
    var isFixed = false

    // What may be played.
    /// Those of the pathway to use come first.
    var eligible: [AssetVariant] = []
    /// Variants of other pathways, if the one in use may be left for them.
    var elsewhere: [AssetVariant] = []
    /// Variants that failed of late or whose audio did, those that cannot be played here, and playlists of renditions that
    /// failed of late.
    var avoided: Set<Int> = []
    var unplayable: Set<Int> = []
    var avoidedRenditions: Set<String> = []

    enum Action: Sendable, Hashable {
        /// The failure is told, and playing continues.
        case report
        /// These variants, whose next segment begins at that item time, or this playlist of a rendition, are avoided for
        /// a while.
        case avoid([Int], from: Duration)
        case avoidRendition(String)
        /// All that comes from the pathway is avoided for a while.
        case leavePathway
        /// By what may be used then: ``next(for:_:)``.
        case goOn
        case use(Int, because: String)
        case redirect(to: String)
        /// Nobody needs the lane.
        case drop
        /// Nothing is left for this lane.
        case fail(LaneID)
    }

    // MARK: Whether

    /// Whether what a lane plays can be had elsewhere, where it has not failed of late.
    func hasAlternative(for id: LaneID) -> Bool {
        switch source(of: id) {
        case .main:
            guard candidates.count > 1, !isFixed else { return false }
            return !elsewhere.isEmpty
                || eligible.contains {
                    !sharesMain($0) && !avoided.contains($0.index) && !unplayable.contains($0.index)
                }
        case .audio: return !variantsWithOtherAudio(of: eligible + elsewhere).isEmpty
        case .subtitles: return otherSubtitles != nil
        }
    }

    /// The lane whose playlist a lane follows.
    private func source(of id: LaneID) -> LaneID { id == .audio && loadsAudioOfVariant ? .main : id }

    // MARK: Where

    /// What a lane plays is loaded from elsewhere from now on.
    func leave(_ id: LaneID) -> [Action] {
        let id = source(of: id)
        switch id {
        case .main:
            guard current != nil else { return [.fail(.main)] }
            // Variants that differ in their audio only share a playlist, and its faults.
            let sharing = candidates.filter(sharesMain).map(\.index)
            let leaves = elsewhere.isEmpty || isFixed ? [] : [Action.leavePathway]
            return [.report, .avoid(sharing, from: place)] + leaves + [.goOn]
        case .audio:
            let leaves = variantsWithOtherAudio(of: elsewhere).isEmpty ? [] : [Action.leavePathway]
            return audioURL.map { [.report, .avoidRendition($0)] + leaves + [.goOn] } ?? []
        // Frames and audio stay as they are.
        case .subtitles: return subtitlesURL.map { [.avoidRendition($0), .goOn] } ?? []
        }
    }

    /// Where a lane goes on, once it is known what is avoided.
    func next(for id: LaneID, _ error: HLSError) -> [Action] {
        let id = source(of: id)
        switch id {
        case .main:
            guard let current, let next = nearest(of: eligible.filter { !sharesMain($0) }) else { return [.fail(id)] }
            return [.use(next.index, because: "variant \(current) failed: \(error.cause)")]
        case .audio:
            guard let audioURL, let next = nearest(of: variantsWithOtherAudio(of: eligible)) else { return [.fail(id)] }
            return [.use(next.index, because: "audio \(audioURL) failed: \(error.cause)")]
        case .subtitles: return otherSubtitles.map { [.report, .redirect(to: $0)] } ?? [.drop]
        }
    }

    /// A variant that cannot even be asked for: any other.
    func next(insteadOf index: Int) -> Int? { eligible.first { $0.index != index }?.index }

    /// As near to what was chosen as can be, rather below than above.
    private func nearest(of variants: [AssetVariant]) -> AssetVariant? {
        if let sources, sources.isSoundOnly {
            return SoundOnlyRule().choose(from: variants) { sources.audioURL(of: $0.index) != nil }
        }
        func distance(_ variant: AssetVariant) -> Double {
            variant.bandwidth <= bandwidth ? bandwidth - variant.bandwidth : (variant.bandwidth - bandwidth) * 4
        }
        return variants.min { distance($0) < distance($1) }
    }

    // MARK: Who shares what

    /// A variant whose frames come from the playlist that is loaded now.
    private func sharesMain(_ variant: AssetVariant) -> Bool {
        guard let sources, sources.isSoundOnly else { return variant.uri == currentURI }
        return sources[variant.index].map { sources.mainURL(of: $0) == mainURL } ?? false
    }

    /// Those with the audio that is played, but from another playlist, that have not failed of late.
    private func variantsWithOtherAudio(of variants: [AssetVariant]) -> [AssetVariant] {
        guard let sources, let audioURL, !isFixed else { return [] }
        return variants.filter { variant in
            !avoided.contains(variant.index) && sources.hasSelectedAudio(variant.index)
                && sources.audioURL(of: variant.index) != audioURL
        }
    }

    private var otherSubtitles: String? {
        sources?.subtitlesURL(otherThan: subtitlesURL, avoiding: avoidedRenditions)
    }
}
