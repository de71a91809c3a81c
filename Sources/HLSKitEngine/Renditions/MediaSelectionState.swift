import HLSKitCaptions
import HLSKitMedia
package import HLSKitPlaylist
package import HLSKitSelection

/// The available media selection options, the preferences for them, and the current selection.
package struct MediaSelectionState: Sendable {
    /// The criteria by characteristic. They belong to the player and outlast an item.
    package private(set) var criteria: [MediaCharacteristic: MediaSelectionCriteria] = [:]
    /// Whether criteria and defaults are applied. Otherwise each group's default plays.
    package private(set) var isAutomatic = true
    /// The user's languages in order of preference, as BCP 47 tags. They belong to the player.
    private var languages: [String] = []
    private(set) var choices: [MediaCharacteristic: MediaSelectionChoice] = [:]
    /// The groups of this item. Empty until its multivariant playlist arrives.
    package private(set) var groups: [MediaCharacteristic: MediaSelectionGroup] = [:]
    package private(set) var current = MediaSelection()
    /// The legible group of the playlist, and closed caption services that were found only in the video.
    private var declared: MediaSelectionGroup?
    private var found: Set<ClosedCaptionService> = []
    /// Whether the playlist declares the audio. Otherwise its options are the audio tracks inside segments.
    private(set) var isAudioDeclared = false
    private var isAudioFound = false
    /// The rule that selects audio tracks inside segments, or nil without a preference.
    package private(set) var audioTrackRule: AudioTrackRule?
    private var sidecars = SidecarOptions()
    private var lastReplacement = 0

    init(languages: [String] = []) { self.languages = languages }

    mutating func forgetItem() {
        choices = [:]
        groups = [:]
        declared = nil
        found = []
        isAudioDeclared = false
        isAudioFound = false
        audioTrackRule = nil
        sidecars = SidecarOptions()
        current = MediaSelection()
    }

    // MARK: Preferences

    package mutating func takeCriteria(from other: MediaSelectionState) {
        criteria = other.criteria
        isAutomatic = other.isAutomatic
        languages = other.languages
    }

    mutating func setCriteria(_ new: MediaSelectionCriteria?, of characteristic: MediaCharacteristic) {
        criteria[characteristic] = new
    }

    mutating func setAutomatic(_ new: Bool) { isAutomatic = new }

    mutating func choose(_ choice: MediaSelectionChoice, of characteristic: MediaCharacteristic) {
        choices[characteristic] = choice
    }

    // MARK: Selecting

    /// Selects an option of each group.
    ///
    /// - Returns: The groups whose option has changed, in the order in which to change lanes.
    /// - Throws: An error if a preference matches no option. The selection then does not change.
    mutating func select(
        audio: QualityExpression?, subtitles: QualityExpression?, video: QualityExpression? = nil
    ) throws(UnmatchedPreference) -> [MediaCharacteristic] {
        let before = current
        do throws(UnmatchedPreference) {
            // Forced subtitles depend on the audio.
            current[.audible] = try option(.audible, preference: audio)
            current[.legible] = try option(.legible, preference: subtitles)
            current[.visual] = try option(.visual, preference: video)
        } catch {
            current = before
            throw error
        }
        return [.legible, .audible, .visual].filter { before[$0] != current[$0] }
    }

    mutating func numberReplacement() -> Int {
        lastReplacement += 1
        return lastReplacement
    }

    // MARK: Closed captions

    /// Returns the selected service, or nil if none is selected.
    func closedCaptionService(in group: @autoclosure () -> String?) -> ClosedCaptionService? {
        guard let option = current[.legible], option.isClosedCaptions else { return nil }
        let group = group()
        let rendition = option.renditions.first { $0.groupID == group } ?? option.renditions.first
        return ClosedCaptionService(instreamID: rendition?.instreamID)
    }

    enum Offer: Sendable, Hashable {
        /// All services are already offered, or the playlist declares the services.
        case nothing
        /// There are new options. `isWanted`: whether the user may have chosen one before it was available.
        case options(isWanted: Bool)
    }

    /// Adds options for services that were found in the video and that no playlist declares.
    ///
    /// - Parameter playlist: The multivariant playlist, or nil if there is none.
    mutating func offer(_ services: Set<ClosedCaptionService>, addingTo playlist: MultivariantPlaylist?) -> Offer {
        if let playlist {
            guard !playlist.variants.contains(where: { $0.closedCaptions == ClosedCaptions.none }),
                !playlist.renditions.contains(where: { $0.type == .closedCaptions })
            else { return .nothing }
        }
        guard !services.isSubset(of: found) else { return .nothing }
        found.formUnion(services)
        completeLegible()
        if case .option? = choices[.legible] { return .options(isWanted: true) }
        return .options(isWanted: false)
    }

    /// Selects closed captions or captions of the app, or nothing, for media without other options.
    ///
    /// Returns whether the selection has changed.
    ///
    /// - Parameter wish: The preference for the app's captions. Only the user selects closed captions of such media.
    mutating func selectClosedCaptions(preference: QualityExpression? = nil) -> Bool {
        let legible = try? option(.legible, preference: sidecars.isEmpty ? nil : preference)
        guard legible != current[.legible] else { return false }
        current[.legible] = legible
        return true
    }

    // MARK: Audio inside segments

    var isAudioInside: Bool { !isAudioDeclared && groups[.audible] != nil }

    var declaredSelection: MediaSelection {
        var selection = current
        if isAudioInside { selection[.audible] = nil }
        return selection
    }

    /// Offers audio tracks inside segments as options and selects one, if the playlist declares no audio.
    ///
    /// - Returns: Whether the number of options has increased to more than one.
    /// - Throws: An error if a preference matches none of them. Only the first tracks are checked.
    mutating func offer(
        audio tracks: [MediaTrack], preference: QualityExpression?, canDecode: (MediaCodec) -> Bool
    ) throws(UnmatchedPreference) -> Bool {
        guard !isAudioDeclared else { return false }
        let isFirst = !isAudioFound
        isAudioFound = true
        let known = groups[.audible]?.options ?? []
        let new = AudioTrackOptions(tracks, canDecode: canDecode).options
            .filter { option in !known.contains { $0.id == option.id } }
        if !new.isEmpty {
            groups[.audible] = MediaSelectionGroup(
                characteristic: .audible, options: known + new, allowsEmptySelection: false)
        }
        guard let group = groups[.audible] else {
            if isFirst, let preference {
                throw UnmatchedPreference(preference: preference, characteristic: .audible, offered: [])
            }
            return false
        }
        guard !new.isEmpty else { return false }
        let terms = terms(of: .audible, preference: preference)
        do throws(UnmatchedPreference) {
            current[.audible] = try terms.option(in: group)
        } catch {
            if isFirst { throw error }
        }
        return group.options.count > 1
    }

    /// Selects the preferred audio inside segments for media without other options.
    ///
    /// Returns whether the selection has changed.
    mutating func selectAudioInside(preference: QualityExpression?) throws(UnmatchedPreference) -> Bool {
        guard isAudioInside else { return false }
        let new = try option(.audible, preference: preference)
        guard new != current[.audible] else { return false }
        current[.audible] = new
        return true
    }

    mutating func updateAudioTrackRule(preference: QualityExpression?) -> Bool {
        let terms: SelectionTerms
        if isAudioDeclared {
            let language = current[.audible]?.extendedLanguageTag
            terms = SelectionTerms(
                criteria: language.map { MediaSelectionCriteria(preferredLanguages: [$0]) })
        } else {
            terms = self.terms(of: .audible, preference: preference)
        }
        let rule = AudioTrackRule(terms)
        guard rule != audioTrackRule else { return false }
        audioTrackRule = rule
        return true
    }

    // MARK: Groups

    mutating func setGroups(of playlist: MultivariantPlaylist, canDecode: (String) -> Bool) {
        for characteristic in [MediaCharacteristic.audible, .legible, .visual] {
            groups[characteristic] = MediaSelectionGroup(characteristic, of: playlist, canDecode: canDecode)
        }
        declared = groups[.legible]
        isAudioDeclared = groups[.audible] != nil
        isAudioFound = false
        completeLegible()
    }

    /// Adds the options that are not in a playlist to the legible group.
    private mutating func completeLegible() {
        groups[.legible] = MediaSelectionGroup(declared, with: found, sidecars.options)
    }

    // MARK: Captions of the app

    mutating func setSidecars(_ captions: [SidecarCaptions]) {
        sidecars = SidecarOptions(captions)
        completeLegible()
    }

    package var selectedSidecar: SidecarCaptions? {
        sidecars.isEmpty ? nil : sidecars.captions(of: current[.legible])
    }

    /// Whether a preference exists for the group, so that it restricts the variants. Otherwise the variant decides.
    func isWanted(_ characteristic: MediaCharacteristic, preference: QualityExpression?) -> Bool {
        if characteristic == .audible, !isAudioDeclared { return false }
        return preference != nil || (isAutomatic && criteria[characteristic] != nil)
            || choices[characteristic] ?? .automatic != .automatic || isChosenByLanguage(characteristic)
    }

    private func isChosenByLanguage(_ characteristic: MediaCharacteristic) -> Bool {
        guard characteristic == .audible, isAutomatic, criteria[.audible] == nil, !languages.isEmpty,
            let group = groups[.audible]
        else { return false }
        return choose(from: group) != MediaSelectionRule(isAutomatic: true).choose(from: group)
    }

    private func choose(from group: MediaSelectionGroup) -> MediaSelectionOption? {
        terms(of: group.characteristic, preference: nil).choice(
            from: group, audible: companion(of: group.characteristic))
    }

    private func terms(of characteristic: MediaCharacteristic, preference: QualityExpression?) -> SelectionTerms {
        var terms = SelectionTerms(
            choice: choices[characteristic] ?? .automatic, preference: preference, criteria: criteria[characteristic],
            isAutomatic: isAutomatic)
        if terms.criteria == nil, characteristic == .audible, !languages.isEmpty {
            terms.criteria = MediaSelectionCriteria(preferredLanguages: languages)
        }
        return terms
    }

    /// Returns the selected audio, which the choice of subtitles depends on.
    private func companion(of characteristic: MediaCharacteristic) -> MediaSelectionOption? {
        characteristic == .legible ? current[.audible] : nil
    }

    /// Returns the option to play: the user's choice, the match of `preference`, or the rule's choice.
    ///
    /// - Throws: An error if `preference` matches no option.
    func option(
        _ characteristic: MediaCharacteristic, preference: QualityExpression?
    ) throws(UnmatchedPreference) -> MediaSelectionOption? {
        guard let group = groups[characteristic] else {
            // Segments may contain it.
            if characteristic == .audible, !isAudioDeclared, !isAudioFound { return nil }
            if let preference, choices[characteristic] ?? .automatic == .automatic {
                throw UnmatchedPreference(preference: preference, characteristic: characteristic, offered: [])
            }
            return nil
        }
        return try terms(of: characteristic, preference: preference).option(
            in: group, audible: companion(of: characteristic))
    }
}

extension MediaSelectionOption {
    /// Returns the rendition of this option in a variant's group, or the most similar one.
    ///
    /// Without a rendition of the option, it is the one with the same language, the group's default, or the first.
    package func rendition(in group: [Rendition]) -> Rendition? {
        // Closed captions are not subtitles and have no playlist.
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
