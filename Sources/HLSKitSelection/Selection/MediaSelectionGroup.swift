import HLSKitCaptions
import HLSKitMedia
package import HLSKitPlaylist

/// The mutually exclusive options for one characteristic of the media.
public struct MediaSelectionGroup: Sendable, Hashable {
    /// The characteristic of the options: `audible`, `legible` or `visual`.
    public let characteristic: MediaCharacteristic
    /// The options in the order in which the playlist first lists them.
    public let options: [MediaSelectionOption]
    /// A Boolean value that indicates whether it is possible to select none of the options.
    ///
    /// It is `true` for the legible group.
    public let allowsEmptySelection: Bool

    package init(characteristic: MediaCharacteristic, options: [MediaSelectionOption], allowsEmptySelection: Bool) {
        self.characteristic = characteristic
        self.options = options
        self.allowsEmptySelection = allowsEmptySelection
    }

    /// The first option with `DEFAULT=YES`, or `nil` if there is none.
    public var defaultOption: MediaSelectionOption? { options.first { $0.isDefault } }

    /// Returns the option with this ``MediaSelectionOption/id``, or `nil` if there is none.
    public func option(withID id: String) -> MediaSelectionOption? { options.first { $0.id == id } }

    /// Returns the options that can be played on this machine.
    public static func playableMediaSelectionOptions(from options: [MediaSelectionOption]) -> [MediaSelectionOption] {
        options.filter(\.isPlayable)
    }

    /// Returns the options in any of the languages, sorted by language preference.
    ///
    /// - Parameters:
    ///   - options: Options of a group.
    ///   - languages: BCP 47 tags in order of preference. `en` also matches `en-US`, and `en-GB` matches `en`.
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

    /// Returns the options that have all of the characteristics.
    public static func mediaSelectionOptions(
        from options: [MediaSelectionOption], withMediaCharacteristics characteristics: [MediaCharacteristic]
    ) -> [MediaSelectionOption] {
        options.filter { $0.mediaCharacteristics.isSuperset(of: characteristics) }
    }

    /// Returns the options that have none of the characteristics.
    public static func mediaSelectionOptions(
        from options: [MediaSelectionOption], withoutMediaCharacteristics characteristics: [MediaCharacteristic]
    ) -> [MediaSelectionOption] {
        options.filter { $0.mediaCharacteristics.isDisjoint(with: characteristics) }
    }
}

extension MediaSelectionGroup {
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

    /// Whether a variant with the rendition has decodable codecs of its kind, or declares none.
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
