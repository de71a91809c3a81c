import HLSPlaylist

/// The renditions that a selection stands for beside a variant.
extension MediaSelection {
    /// The audio of a variant; nil where its playlist declares none.
    func audio(of variant: Variant, in playlist: MultivariantPlaylist) -> Rendition? {
        self[.audible]?.rendition(
            in: playlist.renditions.filter { $0.type == .audio && $0.groupID == variant.audio })
    }

    /// The playlist of a variant's frames: that of the visual option that is selected, else the variant's own. Where only
    /// audio is wanted, the playlist of that.
    func mainURL(
        of variant: Variant, in playlist: MultivariantPlaylist, base: String, isSoundOnly: Bool
    ) -> String? {
        if isSoundOnly, let uri = audio(of: variant, in: playlist)?.uri {
            return URIReference.resolve(uri, against: base)
        }
        let views = playlist.renditions.filter { $0.type == .video && $0.groupID == variant.video }
        let uri = self[.visual]?.rendition(in: views)?.uri ?? variant.uri
        return URIReference.resolve(uri, against: base)
    }
}

extension MediaSelectionOption {
    /// The rendition of this option in a variant's group; else that of the group which is nearest to it: the same
    /// language, the group's default, its first.
    func rendition(in group: [Rendition]) -> Rendition? {
        // Closed captions are no subtitles, and have no playlist.
        guard let kind = renditions.first?.type, kind == group.first?.type else { return nil }
        let ids = Set(renditions.map(\.optionID))
        if let own = group.first(where: { ids.contains($0.optionID) }) { return own }
        if let language = extendedLanguageTag,
            let same = group.first(where: { $0.language.map { LanguageTag.matches($0, language) } == true })
        {
            return same
        }
        return group.first(where: \.isDefault) ?? group.first
    }
}
