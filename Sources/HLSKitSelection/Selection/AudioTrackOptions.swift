package import HLSKitMedia
import HLSKitPlaylist

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
            let language = track.language.map(LanguageTag.shortest)
            var rendition = Rendition(
                type: .audio, groupID: "", name: names.name(of: track, "Audio"), language: language)
            rendition.isDefault = isFirst
            rendition.isAutoselect = true
            if track.channelCount > 0 { rendition.channels = "\(track.channelCount)" }
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

package struct TrackNames {
    private var used: Set<String> = []

    package init() {}

    /// - Parameter kind: The beginning of the name, before the language.
    package mutating func name(of track: MediaTrack, _ kind: String) -> String {
        let base = track.language.map { "\(kind) \(LanguageTag.shortest($0))" } ?? kind
        var name = base
        var number = 1
        while !used.insert(name).inserted {
            number += 1
            name = "\(base) \(number)"
        }
        return name
    }
}
