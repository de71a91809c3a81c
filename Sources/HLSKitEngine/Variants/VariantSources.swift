import HLSKitPlaylist
import HLSKitSelection

/// The playlists from which variants are played with the selected options.
struct VariantSources: Sendable {
    var playlist: MultivariantPlaylist
    var base: String
    var selection = MediaSelection()
    var isAudioOnly = false

    subscript(index: Int) -> VariantStream? {
        playlist.variants.indices.contains(index) ? playlist.variants[index] : nil
    }

    func url(_ uri: String) -> String? { URIReference.resolve(uri, against: base) }

    // MARK: Frames

    /// The URL of a variant's video: the selected visual option's or the variant's own. For audio alone, the URL of the
    /// audio.
    func mainURL(of variant: VariantStream) -> String? {
        if isAudioOnly, let uri = audio(of: variant)?.uri { return url(uri) }
        let views = playlist.renditions.filter { $0.type == .video && $0.groupID == variant.video }
        return url(selection[.visual]?.rendition(in: views)?.uri ?? variant.uri)
    }

    // MARK: Audio

    func audio(of variant: VariantStream) -> Rendition? {
        selection[.audible]?.rendition(
            in: playlist.renditions.filter { $0.type == .audio && $0.groupID == variant.audio })
    }

    /// The URL of the audio playlist of a variant, or `nil` if the audio is inside its own segments.
    func audioURL(of index: Int) -> String? {
        guard let variant = self[index], let uri = audio(of: variant)?.uri else { return nil }
        return url(uri)
    }

    func variants(withAudioFrom urls: Set<String>) -> [Int] {
        playlist.variants.indices.filter { audioURL(of: $0).map(urls.contains) == true }
    }

    /// Whether a variant has exactly the selected audio, not only a similar one.
    func hasSelectedAudio(_ index: Int) -> Bool {
        guard let option = selection[.audible], let variant = self[index], let audio = audio(of: variant) else {
            return false
        }
        return option.renditions.contains { $0.optionID == audio.optionID }
    }

    // MARK: Subtitles

    /// The selected subtitles in the group of a variant.
    ///
    /// If they failed recently, the same subtitles in another group are used if there are any.
    func subtitles(of variant: VariantStream, avoiding avoided: Set<String>) -> Rendition? {
        guard let option = selection[.legible] else { return nil }
        let own = option.rendition(
            in: playlist.renditions.filter { $0.type == .subtitles && $0.groupID == variant.subtitles })
        guard let own, let uri = own.uri, let url = url(uri), avoided.contains(url) else { return own }
        return sameSubtitles(avoiding: avoided) { $0 != own } ?? own
    }

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
