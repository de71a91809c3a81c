import HLSKitLoading
import HLSKitPlaylist

/// Which variants may be used, and why the others may not.
///
/// See docs/behaviour/selection.md.
package struct VariantEligibility: Sendable, Hashable {
    /// The variants that may be used, in playlist order.
    package private(set) var eligible: [AssetVariant]
    /// One reason for each variant that is out, by its index: that of the first step that took it.
    package private(set) var exclusions: [Int: IneligibilityReason] = [:]
    /// nil where only the first reasons are asked for.
    private var listing: Listing?

    private struct Listing: Sendable, Hashable {
        var out: [AssetVariant] = []
        /// For each of ``out``, by its index, the steps that take it, in their order.
        var reasons: [Int: [IneligibilityReason]] = [:]
    }

    /// Runs the steps over `candidates` (one pathway, playlist order).
    package init(_ candidates: [AssetVariant], in context: SelectionContext) {
        self.init(candidates, in: context, listsAll: false)
    }

    /// All reasons for each variant that is out, by its index, in the order of the steps. A later step judges what is out by
    /// what it says of the variant alone.
    package static func reasons(
        _ candidates: [AssetVariant], in context: SelectionContext
    ) -> [Int: [IneligibilityReason]] {
        VariantEligibility(candidates, in: context, listsAll: true).listing?.reasons ?? [:]
    }

    private init(_ candidates: [AssetVariant], in context: SelectionContext, listsAll: Bool) {
        eligible = candidates
        if listsAll { listing = Listing() }
        if let pinned = context.pinnedVariant, candidates.contains(where: { $0.id == pinned }) {
            keep(.notPinned) { $0.id == pinned }
            return
        }
        applyHardSteps(context)
        let playable = self
        applySoftSteps(context)
        if let quality = context.quality { apply(quality, playable: playable) }
    }

    // MARK: - Steps

    private mutating func applyHardSteps(_ context: SelectionContext) {
        if !context.isPassThrough {
            keep(.codec) { variant in
                !context.unplayableVariants.contains(variant.index) && variant.codecs.allSatisfy(context.canDecode)
            }
        }
        let understood = context.understoodVideoLayouts
        keep(.requirement) { variant in
            let facts = variant.storage.facts
            return facts.requiredVideoLayouts.allSatisfy { understood.contains(.init(rawValue: $0)) }
                && (facts.allowedCPC.isEmpty || !context.contentProtection.isDisjoint(with: facts.allowedCPC))
        }
        if !context.isPassThrough {
            keep(.hdcpLevel) { ($0.hdcpLevel ?? .none) <= context.allowedHDCPLevel }
        }
        keepUnlessNone(.videoRange) { context.supportedVideoRanges.contains($0.videoRange) }
        if let option = context.audibleOption { keepAudio(option) }
    }

    private mutating func applySoftSteps(_ context: SelectionContext) {
        keepOrLowest(.audioFormat) { variant in
            let isTooWide = context.maximumChannelCount.map { variant.channelCount(of: context.audibleOption) > $0 }
            return isTooWide != true
                && (context.prefersLosslessAudio || !variant.codecs.contains(where: Self.isLossless))
        }
        keepUnlessNone(.penalized) { !context.penalizedVariants.contains($0.index) }
        if context.wantsPictures { keepUnlessNone(.audioOnly, \.hasVideo) }
        if let limit = context.preferredPeakBitRate { keepOrLowest(.peakBitRate) { $0.bandwidth <= limit } }
        if let limit = context.preferredMaximumResolution {
            keepOrLowest(.maximumResolution) { variant in
                variant.resolution.map { $0.width <= limit.width && $0.height <= limit.height } ?? true
            }
        }
        if let display = context.display { capToDisplay(display) }
        keepOrLowest(.limits) { variant in
            let pixels = variant.resolution?.pixelCount ?? 0
            return pixels <= context.maximumPixelCount ?? .max
                && variant.storage.facts.frameRate ?? 0 <= context.maximumFrameRate ?? .infinity
                && context.bitRateBounds?.contains(variant.bandwidth) != false
        }
    }

    /// Step 5: the option itself, else its language, else any.
    private mutating func keepAudio(_ option: AudioRendition) {
        let offersOption = { (variant: AssetVariant) in variant.audioOptions.contains { $0.id == option.id } }
        if eligible.contains(where: offersOption) {
            keep(.audioGroup, offersOption)
        } else if let language = option.language {
            keepUnlessNone(.audioGroup) { variant in variant.audioOptions.contains { $0.language == language } }
        }
    }

    /// Step 11: nothing larger than the smallest variant that fills the display.
    private mutating func capToDisplay(_ display: DisplayArea) {
        let sufficient = judged.compactMap(\.resolution).filter { display.isFilled(by: $0) }
        guard let needed = sufficient.map(\.pixelCount).min() else { return }
        keepOrLowest(.displaySize) { $0.resolution?.pixelCount ?? 0 <= needed }
    }

    /// The quality is asked of what all steps left; an explicit request that they excluded is honoured all the same.
    private mutating func apply(_ quality: QualityExpression, playable: VariantEligibility) {
        var matches = Set(quality.matches(eligible))
        if matches.isEmpty {
            let wished = quality.matches(playable.eligible)
            if !wished.isEmpty {
                self = playable
                matches = Set(wished)
            }
        }
        keep(.limits) { matches.contains($0.index) }
    }

    // MARK: - Kinds of steps

    /// What a step looks at: what is left, or all where nothing is.
    private var judged: [AssetVariant] { eligible.isEmpty ? listing?.out ?? [] : eligible }

    private mutating func keep(_ reason: IneligibilityReason, _ isAllowed: (AssetVariant) -> Bool) {
        list(reason, isAllowed)
        // Most steps take nothing.
        guard let first = eligible.firstIndex(where: { !isAllowed($0) }) else { return }
        var kept = Array(eligible[..<first])
        for variant in eligible[first...] {
            if isAllowed(variant) {
                kept.append(variant)
            } else {
                leave(variant, reason)
            }
        }
        eligible = kept
    }

    private mutating func leave(_ variant: AssetVariant, _ reason: IneligibilityReason) {
        exclusions[variant.index] = reason
        listing?.out.append(variant)
        listing?.reasons[variant.index] = [reason]
    }

    /// Notes of what is out already that this step would take it, too.
    private mutating func list(_ reason: IneligibilityReason, _ isAllowed: (AssetVariant) -> Bool) {
        for variant in listing?.out ?? [] where !isAllowed(variant) {
            listing?.reasons[variant.index]?.append(reason)
        }
    }

    private mutating func keepUnlessNone(_ reason: IneligibilityReason, _ isAllowed: (AssetVariant) -> Bool) {
        if judged.contains(where: isAllowed) { keep(reason, isAllowed) }
    }

    private mutating func keepOrLowest(_ reason: IneligibilityReason, _ isAllowed: (AssetVariant) -> Bool) {
        if eligible.contains(where: isAllowed) {
            keep(reason, isAllowed)
        } else {
            list(reason, isAllowed)
            guard let lowest = eligible.lowestBandwidth else { return }
            for variant in eligible where variant.index != lowest.index { leave(variant, reason) }
            eligible = [lowest]
        }
    }

    private static func isLossless(_ codec: String) -> Bool {
        ["alac", "flac", "fLaC", "lpcm", "ipcm", "fpcm", "twos", "sowt", "in24", "in32", "fl32", "fl64"].contains(codec)
    }
}

extension AssetVariant {
    /// Channels of the rendition that would be played; 0 if undeclared.
    fileprivate func channelCount(of option: AudioRendition?) -> Int {
        let played =
            audioOptions.first { $0.id == option?.id } ?? audioOptions.first { $0.language == option?.language }
        return (played ?? audioOptions.first)?.channelCount ?? 0
    }
}

extension DisplayArea {
    /// Whether a frame of `resolution` is shown without being enlarged.
    fileprivate func isFilled(by resolution: PixelSize) -> Bool {
        switch gravity {
        case .resizeAspect: resolution.width >= size.width || resolution.height >= size.height
        case .resizeAspectFill, .resize: resolution.width >= size.width && resolution.height >= size.height
        }
    }
}
