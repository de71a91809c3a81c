import HLSKitLoading
import HLSKitPlaylist

package struct VariantEligibility: Sendable, Hashable {
    package private(set) var eligible: [AssetVariant]
    package private(set) var exclusions: [Int: IneligibilityReason] = [:]
    /// The list of all reasons, or nil if only the first ones are needed.
    private var listing: Listing?

    private struct Listing: Sendable, Hashable {
        var out: [AssetVariant] = []
        /// For each excluded variant, by its index, the steps that exclude it in order.
        var reasons: [Int: [IneligibilityReason]] = [:]
    }

    /// Applies the steps to `candidates` of one pathway in playlist order.
    package init(_ candidates: [AssetVariant], in context: SelectionContext) {
        self.init(candidates, in: context, listsAll: false)
    }

    /// Returns all reasons of each excluded variant, by its index, in the order of the steps. Later steps judge an
    /// excluded variant by itself.
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
        if context.wantsFrames { keepUnlessNone(.audioOnly, \.hasVideo) }
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

    /// Step 5: the option itself, otherwise its language, otherwise any.
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

    /// Applies the quality expression to the remaining variants. If it only matches excluded ones, the explicit request
    /// overrides the soft steps.
    private mutating func apply(_ quality: QualityExpression, playable: VariantEligibility) {
        var matches = Set(quality.matches(eligible))
        if matches.isEmpty {
            let preferred = quality.matches(playable.eligible)
            if !preferred.isEmpty {
                self = playable
                matches = Set(preferred)
            }
        }
        keep(.limits) { matches.contains($0.index) }
    }

    // MARK: - Kinds of steps

    /// The variants that a step examines: the remaining ones, or the excluded ones if none remains.
    private var judged: [AssetVariant] { eligible.isEmpty ? listing?.out ?? [] : eligible }

    private mutating func keep(_ reason: IneligibilityReason, _ isAllowed: (AssetVariant) -> Bool) {
        list(reason, isAllowed)
        // Most steps exclude nothing.
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

    /// Records that this step also excludes variants that are already excluded.
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
    /// Returns the channel count of the rendition that would play, or 0 if it is not declared.
    fileprivate func channelCount(of option: AudioRendition?) -> Int {
        let played =
            audioOptions.first { $0.id == option?.id } ?? audioOptions.first { $0.language == option?.language }
        return (played ?? audioOptions.first)?.channelCount ?? 0
    }
}

extension DisplayArea {
    /// Whether a frame of `resolution` is shown without enlargement.
    fileprivate func isFilled(by resolution: PixelSize) -> Bool {
        switch gravity {
        case .resizeAspect: resolution.width >= size.width || resolution.height >= size.height
        case .resizeAspectFill, .resize: resolution.width >= size.width && resolution.height >= size.height
        }
    }
}
