package import HLSKitMedia
package import HLSKitPlaylist

/// The audio tracks of segments as options of the audible group, for a playlist without audio renditions (I01).
package struct AudioTrackOptions: Sendable {
    private let entries: [(option: MediaSelectionOption, track: MediaTrack)]

    /// - Parameters:
    ///   - tracks: All tracks of a segment. Decodable tracks come first in the options.
    ///   - canDecode: Whether this machine can decode a codec.
    package init(_ tracks: [MediaTrack], canDecode: (MediaCodec) -> Bool) {
        let all = tracks.filter { $0.mediaType == .audio && !$0.isAuxiliary }
        let ordered =
            all.filter { canDecode($0.codec) } + all.filter { !canDecode($0.codec) }
        var names = TrackNames()
        var isFirst = true
        entries = ordered.compactMap { track in
            var rendition = names.rendition(.audio, of: track, groupID: "")
            rendition.isDefault = isFirst
            isFirst = false
            return MediaSelectionOption([rendition], isPlayable: canDecode(track.codec))
                .map { ($0, track) }
        }
    }

    package var options: [MediaSelectionOption] { entries.map(\.option) }

    package var group: MediaSelectionGroup? {
        entries.isEmpty
            ? nil : MediaSelectionGroup(characteristic: .audible, options: options, allowsEmptySelection: false)
    }

    package func track(of option: MediaSelectionOption?) -> MediaTrack? {
        guard let option else { return nil }
        return entries.first { $0.option.id == option.id }?.track
    }
}

package struct AudioTrackRule: Sendable, Equatable {
    private let terms: SelectionTerms

    package init?(_ terms: SelectionTerms) {
        let isChosen = if case .option = terms.choice { true } else { false }
        guard isChosen || terms.preference != nil || (terms.criteria != nil && terms.isAutomatic) else { return nil }
        self.terms = terms
    }

    package func track(among tracks: [MediaTrack], canDecode: (MediaCodec) -> Bool) -> MediaTrack? {
        let options = AudioTrackOptions(tracks, canDecode: canDecode)
        guard let group = options.group else { return nil }
        return options.track(of: (try? terms.option(in: group)) ?? nil)
    }
}

/// Describes tracks as renditions with different names: the tracks' own names, or else their kind and language.
package struct TrackNames {
    private var used: Set<String> = []

    package init() {}

    /// - Parameter type: Audio or subtitles.
    package mutating func rendition(
        _ type: Rendition.MediaType, of track: MediaTrack, groupID: String
    ) -> Rendition {
        let language = track.language.map(LanguageTag.shortest)
        let base = track.label.name ?? Self.name(type == .audio ? "Audio" : "Subtitles", language)
        var name = base
        var number = 1
        while !used.insert(name).inserted {
            number += 1
            name = "\(base) \(number)"
        }
        var rendition = Rendition(type: type, groupID: groupID, name: name, language: language, isAutoselect: true)
        rendition.isForced = type == .subtitles && (track.label.isForced || track.holdsOnlyForcedText)
        let characteristics = track.label.characteristics
        rendition.characteristicsText = characteristics.isEmpty ? nil : characteristics.joined(separator: ",")
        if track.channelCount > 0 { rendition.channels = "\(track.channelCount)" }
        return rendition
    }

    private static func name(_ kind: String, _ language: String?) -> String {
        language.map { "\(kind) \(LanguageTag.shortest($0))" } ?? kind
    }

    /// Whether a name says only what is known without it, like the names of tracks without one.
    static func isRedundant(_ name: String, language: String?) -> Bool {
        ["Audio", "Subtitles"].contains { kind in
            let base = Self.name(kind, language)
            return name == base || name.hasPrefix(base + " ") && Int(name.dropFirst(base.count + 1)) != nil
        }
    }
}
