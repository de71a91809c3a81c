import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Decides how to replace a failed lane.
///
/// The replacement is another variant, or the same option in another group.
struct Failover: Sendable {
    // Current sources.
    /// The variants and their renditions, or nil without a multivariant playlist.
    var sources: VariantSources?
    var candidates: [AssetVariant] = []
    /// The index, URI and `BANDWIDTH` (bits per second) of the current variant.
    var current: Int?
    var currentURI: String?
    var bandwidth = 0.0
    var mainURL: String?
    var audioURL: String?
    var subtitlesURL: String?
    /// The item time at which the variant's next segment begins.
    var place = Duration.zero
    var loadsAudioOfVariant = false
    var isFixed = false

    // Alternatives.
    /// Allowed variants. Variants of the preferred pathway come first.
    var eligible: [AssetVariant] = []
    /// Variants of other pathways, if the player may switch pathways.
    var elsewhere: [AssetVariant] = []
    /// Sources to avoid because they failed recently or cannot be played.
    ///
    /// Variants are also avoided if their audio failed.
    var avoided: Set<Int> = []
    var unplayable: Set<Int> = []
    var avoidedRenditions: Set<String> = []

    enum Action: Sendable, Hashable {
        /// Report the failure and continue playback.
        case report
        /// Avoid these variants or this rendition playlist for a while.
        ///
        /// `from`: the item time at which the next segment of the variants begins.
        case avoid([Int], from: Duration)
        case avoidRendition(String)
        /// Avoid everything from the pathway for a while.
        case leavePathway
        /// Continue with ``next(for:_:)``, which uses the updated set of avoided sources.
        case resume
        case use(Int, because: String)
        case redirect(to: String)
        /// Drop the lane, which is not required.
        case drop
        /// Fail the lane because it has no alternative.
        case fail(LaneID)
    }

    // MARK: Whether

    /// Whether a lane has an alternative source that has not failed recently.
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

    private func source(of id: LaneID) -> LaneID { id == .audio && loadsAudioOfVariant ? .main : id }

    // MARK: Where

    func leave(_ id: LaneID) -> [Action] {
        let id = source(of: id)
        switch id {
        case .main:
            guard current != nil else { return [.fail(.main)] }
            // Variants that differ only in their audio share a playlist and its faults.
            let sharing = candidates.filter(sharesMain).map(\.index)
            let leaves = elsewhere.isEmpty || isFixed ? [] : [Action.leavePathway]
            return [.report, .avoid(sharing, from: place)] + leaves + [.resume]
        case .audio:
            let leaves = variantsWithOtherAudio(of: elsewhere).isEmpty ? [] : [Action.leavePathway]
            return audioURL.map { [.report, .avoidRendition($0)] + leaves + [.resume] } ?? []
        // Frames and audio do not change.
        case .subtitles: return subtitlesURL.map { [.avoidRendition($0), .resume] } ?? []
        }
    }

    /// Returns how a lane continues once its failed sources are avoided.
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

    /// Returns any other variant for one that cannot be requested.
    func next(insteadOf index: Int) -> Int? { eligible.first { $0.index != index }?.index }

    /// Returns the variant closest in bandwidth to the chosen one. Lower variants are preferred.
    private func nearest(of variants: [AssetVariant]) -> AssetVariant? {
        if let sources, sources.isAudioOnly {
            return AudioOnlyRule().choose(from: variants) { sources.audioURL(of: $0.index) != nil }
        }
        func distance(_ variant: AssetVariant) -> Double {
            variant.bandwidth <= bandwidth ? bandwidth - variant.bandwidth : (variant.bandwidth - bandwidth) * 4
        }
        return variants.min { distance($0) < distance($1) }
    }

    // MARK: Who shares what

    private func sharesMain(_ variant: AssetVariant) -> Bool {
        guard let sources, sources.isAudioOnly else { return variant.uri == currentURI }
        return sources[variant.index].map { sources.mainURL(of: $0) == mainURL } ?? false
    }

    /// Returns variants that have the selected audio in another playlist and have not failed recently.
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
