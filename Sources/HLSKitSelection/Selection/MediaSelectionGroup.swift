import HLSKitCaptions
import HLSKitMedia
package import HLSKitPlaylist

/// The options of one characteristic, of which one at a time is selected.
///
/// See docs/behaviour/media-selection.md.
public struct MediaSelectionGroup: Sendable, Hashable {
    /// `audible`, `legible` or `visual`.
    public let characteristic: MediaCharacteristic
    /// In the order in which the playlist first names them.
    public let options: [MediaSelectionOption]
    /// None of the options may be selected: true for legible ones.
    public let allowsEmptySelection: Bool

    package init(characteristic: MediaCharacteristic, options: [MediaSelectionOption], allowsEmptySelection: Bool) {
        self.characteristic = characteristic
        self.options = options
        self.allowsEmptySelection = allowsEmptySelection
    }

    /// The first with `DEFAULT=YES`; nil if there is none.
    public var defaultOption: MediaSelectionOption? { options.first { $0.isDefault } }

    /// The option with this ``MediaSelectionOption/id``; nil if there is none.
    public func option(withID id: String) -> MediaSelectionOption? { options.first { $0.id == id } }

    /// Those of `options` that can be played here.
    public static func playableMediaSelectionOptions(from options: [MediaSelectionOption]) -> [MediaSelectionOption] {
        options.filter(\.isPlayable)
    }

    /// Those of `options` in one of the languages, the most wanted language first.
    ///
    /// - Parameters:
    ///   - options: of a group, or some of them.
    ///   - languages: BCP 47 tags. `en` also takes `en-US`, and `en-GB` takes `en`.
    public static func mediaSelectionOptions(
        from options: [MediaSelectionOption], filteredAndSortedAccordingToPreferredLanguages languages: [String]
    ) -> [MediaSelectionOption] {
        var rest = options
        return languages.flatMap { language in
            let found = rest.filter { option in
                option.extendedLanguageTag.map { LanguageTag.bestMatch(for: [language], among: [$0]) != nil } ?? false
            }
            rest.removeAll { found.contains($0) }
            return found
        }
    }

    /// Those of `options` that have all of the characteristics.
    public static func mediaSelectionOptions(
        from options: [MediaSelectionOption], withMediaCharacteristics characteristics: [MediaCharacteristic]
    ) -> [MediaSelectionOption] {
        options.filter { $0.mediaCharacteristics.isSuperset(of: characteristics) }
    }

    /// Those of `options` that have none of the characteristics.
    public static func mediaSelectionOptions(
        from options: [MediaSelectionOption], withoutMediaCharacteristics characteristics: [MediaCharacteristic]
    ) -> [MediaSelectionOption] {
        options.filter { $0.mediaCharacteristics.isDisjoint(with: characteristics) }
    }
}

extension MediaSelectionGroup {
    /// The group of a playlist; nil if it has no options.
    ///
    /// - Parameter canDecode: whether media of a `CODECS` entry can be played.
    package init?(
        _ characteristic: MediaCharacteristic, of playlist: MultivariantPlaylist, canDecode: (String) -> Bool
    ) {
        let types: Set<Rendition.MediaType>
        switch characteristic {
        case .audible: types = [.audio]
        case .legible: types = [.subtitles, .closedCaptions]
        case .visual: types = [.video]
        default: return nil
        }
        var order: [String] = []
        var members: [String: [Rendition]] = [:]
        for rendition in playlist.renditions where types.contains(rendition.type) {
            let key = "\(rendition.type.rawValue)|\(rendition.optionID)"
            if members[key] == nil { order.append(key) }
            members[key, default: []].append(rendition)
        }
        let options = order.compactMap { key -> MediaSelectionOption? in
            let renditions = members[key] ?? []
            let isPlayable = renditions.contains { Self.isPlayable($0, in: playlist, canDecode) }
            return MediaSelectionOption(renditions, isPlayable: isPlayable)
        }
        guard !options.isEmpty else { return nil }
        self.characteristic = characteristic
        self.options = options
        allowsEmptySelection = characteristic == .legible
    }

    /// A variant that goes with the rendition has codecs of its kind that can be decoded, or declares none.
    private static func isPlayable(
        _ rendition: Rendition, in playlist: MultivariantPlaylist, _ canDecode: (String) -> Bool
    ) -> Bool {
        let kind: MediaKind
        let group: (VariantStream) -> String?
        switch rendition.type {
        case .audio: (kind, group) = (.audio, \.audio)
        case .video: (kind, group) = (.video, \.video)
        case .subtitles: return true
        case .closedCaptions: return ClosedCaptionService(instreamID: rendition.instreamID) != nil
        default: return false
        }
        let variants = playlist.variants.filter { group($0) == rendition.groupID }
        return variants.contains { variant in
            variant.codecs.allSatisfy { CodecString(rawValue: $0).mediaType != kind || canDecode($0) }
        }
    }
}
