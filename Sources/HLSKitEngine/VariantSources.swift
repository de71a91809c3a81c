import HLSKitPlaylist
import HLSKitSelection

/// The playlists that variants are played from, with the options that are selected.
struct VariantSources: Sendable {
    var playlist: MultivariantPlaylist
    /// Its URL.
    var base: String
    var selection = MediaSelection()
    /// Only audio is played.
    var isSoundOnly = false

    /// The variant at this index.
    subscript(index: Int) -> VariantStream? {
        playlist.variants.indices.contains(index) ? playlist.variants[index] : nil
    }

    /// What a URI of the playlist means.
    func url(_ uri: String) -> String? { URIReference.resolve(uri, against: base) }

    // MARK: Frames

    /// The URL of the frames of a variant: those of the visual option that is selected, else the variant's own. Where
    /// only audio is wanted, the URL of that.
    func mainURL(of variant: VariantStream) -> String? {
        if isSoundOnly, let uri = audio(of: variant)?.uri { return url(uri) }
        let views = playlist.renditions.filter { $0.type == .video && $0.groupID == variant.video }
        return url(selection[.visual]?.rendition(in: views)?.uri ?? variant.uri)
    }

    // MARK: Audio

    /// The audio that is selected, in the group of a variant.
    func audio(of variant: VariantStream) -> Rendition? {
        selection[.audible]?.rendition(
            in: playlist.renditions.filter { $0.type == .audio && $0.groupID == variant.audio })
    }

    /// The playlist of the audio that a variant would be played with; nil where that is inside its own segments.
    func audioURL(of index: Int) -> String? {
        guard let variant = self[index], let uri = audio(of: variant)?.uri else { return nil }
        return url(uri)
    }

    /// The variants that would be played with audio of these playlists.
    func variants(withAudioFrom urls: Set<String>) -> [Int] {
        playlist.variants.indices.filter { audioURL(of: $0).map(urls.contains) == true }
    }

    /// Whether a variant has the audio that is selected, and not only the nearest to it.
    func hasSelectedAudio(_ index: Int) -> Bool {
        guard let option = selection[.audible], let variant = self[index], let audio = audio(of: variant) else {
            return false
        }
        return option.renditions.contains { $0.optionID == audio.optionID }
    }

    // MARK: Subtitles

    /// The subtitles that are selected, for a variant: those of its own group, unless they failed of late and another
    /// group has the same.
    ///
    /// - Parameter avoided: the playlists of renditions that failed of late.
    func subtitles(of variant: VariantStream, avoiding avoided: Set<String>) -> Rendition? {
        guard let option = selection[.legible] else { return nil }
        let own = option.rendition(
            in: playlist.renditions.filter { $0.type == .subtitles && $0.groupID == variant.subtitles })
        guard let own, let uri = own.uri, let url = url(uri), avoided.contains(url) else { return own }
        return sameSubtitles(avoiding: avoided) { $0 != own } ?? own
    }

    /// The subtitles that are selected, from another playlist than this one.
    func subtitlesURL(otherThan url: String?, avoiding avoided: Set<String>) -> String? {
        sameSubtitles(avoiding: avoided) { $0.uri.flatMap(self.url) != url }?.uri.flatMap(self.url)
    }

    private func sameSubtitles(avoiding avoided: Set<String>, where isMeant: (Rendition) -> Bool) -> Rendition? {
        guard let option = selection[.legible] else { return nil }
        let ids = Set(option.renditions.map(\.optionID))
        return playlist.renditions.first { rendition in
            guard rendition.type == .subtitles, ids.contains(rendition.optionID), isMeant(rendition),
                let uri = rendition.uri, let url = url(uri)
            else { return false }
            return !avoided.contains(url)
        }
    }
}
