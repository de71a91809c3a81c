import HLSKitCaptions
import HLSKitMedia
package import HLSKitPlaylist
package import HLSKitSelection

/// Which options there are, what is wanted of them, and what is selected.
package struct MediaSelectionState: Sendable {
    /// By characteristic; of the player, so they outlive an item.
    package private(set) var criteria: [MediaCharacteristic: MediaSelectionCriteria] = [:]
    /// Criteria and defaults are followed; otherwise each group's default plays.
    package private(set) var isAutomatic = true
    /// What the user speaks, the most wanted first; BCP 47 tags. Of the player.
    private var languages: [String] = []
    /// What the user chose for this item.
    private(set) var choices: [MediaCharacteristic: MediaSelectionChoice] = [:]
    /// The groups of this item; empty until its multivariant playlist is there.
    package private(set) var groups: [MediaCharacteristic: MediaSelectionGroup] = [:]
    package private(set) var current = MediaSelection()
    /// The legible group as the playlist has it, and services of closed captions that only the video tells of.
    private var declared: MediaSelectionGroup?
    private var found: Set<ClosedCaptionService> = []
    /// The playlist names the audio; otherwise its options are the audio tracks inside segments.
    private(set) var isAudioDeclared = false
    /// Segments have told of their audio.
    private var isAudioFound = false
    /// Chooses among audio tracks inside segments; nil where nobody wants one of them more than another.
    package private(set) var audioTrackRule: AudioTrackRule?
    /// Captions of the program.
    private var sidecars = SidecarOptions()
    /// Counts the changes of a lane's rendition.
    private var lastReplacement = 0

    /// - Parameter languages: BCP 47 tags, the most wanted first.
    init(languages: [String] = []) { self.languages = languages }

    /// The item is another one: what was of the old one is forgotten.
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

    // MARK: Wishes

    /// Takes what belongs to the player and not to an item.
    package mutating func takeCriteria(from other: MediaSelectionState) {
        criteria = other.criteria
        isAutomatic = other.isAutomatic
        languages = other.languages
    }

    mutating func setCriteria(_ new: MediaSelectionCriteria?, of characteristic: MediaCharacteristic) {
        criteria[characteristic] = new
    }

    mutating func setAutomatic(_ new: Bool) { isAutomatic = new }

    /// The user has chosen.
    mutating func choose(_ choice: MediaSelectionChoice, of characteristic: MediaCharacteristic) {
        choices[characteristic] = choice
    }

    // MARK: Selecting

    /// Selects what is wanted of each group.
    ///
    /// - Returns: the groups whose option has changed, in the order in which lanes are changed.
    /// - Throws: where a wish matches no option. The selection stays as it is.
    mutating func select(
        audio: QualityExpression?, subtitles: QualityExpression?
    ) throws(UnmatchedWish) -> [MediaCharacteristic] {
        let before = current
        do throws(UnmatchedWish) {
            // Forced subtitles go with the audio.
            current[.audible] = try option(.audible, wish: audio)
            current[.legible] = try option(.legible, wish: subtitles)
            current[.visual] = try option(.visual, wish: nil)
        } catch {
            current = before
            throw error
        }
        return [.legible, .audible, .visual].filter { before[$0] != current[$0] }
    }

    /// A lane changes to another rendition.
    ///
    /// - Returns: the number of the change.
    mutating func numberReplacement() -> Int {
        lastReplacement += 1
        return lastReplacement
    }

    // MARK: Closed captions

    /// The service that is selected; nil where none is.
    ///
    /// - Parameter group: the group of the variant that is loaded.
    func closedCaptionService(in group: @autoclosure () -> String?) -> ClosedCaptionService? {
        guard let option = current[.legible], option.isClosedCaptions else { return nil }
        let group = group()
        let rendition = option.renditions.first { $0.groupID == group } ?? option.renditions.first
        return ClosedCaptionService(instreamID: rendition?.instreamID)
    }

    enum Offer: Sendable, Hashable {
        /// All of them are offered already, or the playlist says what there is.
        case nothing
        /// There are more options. `isWanted`: the user may have chosen one that was not there yet.
        case options(isWanted: Bool)
    }

    /// The video has captions: options for services that no playlist declares are added.
    ///
    /// - Parameter playlist: nil for media without a multivariant playlist.
    mutating func offer(_ services: Set<ClosedCaptionService>, besides playlist: MultivariantPlaylist?) -> Offer {
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

    /// Selects closed captions or captions of the program, or nothing, for media that has no other options. False where
    /// nothing changes.
    ///
    /// - Parameter wish: closed captions of such media are selected by their user alone.
    mutating func selectClosedCaptions(wish: QualityExpression? = nil) -> Bool {
        let legible = try? option(.legible, wish: sidecars.isEmpty ? nil : wish)
        guard legible != current[.legible] else { return false }
        current[.legible] = legible
        return true
    }

    // MARK: Audio inside segments

    /// The options of the audible group are tracks inside segments.
    var isAudioInside: Bool { !isAudioDeclared && groups[.audible] != nil }

    /// What is selected, of what the playlist names.
    var declaredSelection: MediaSelection {
        var selection = current
        if isAudioInside { selection[.audible] = nil }
        return selection
    }

    /// Segments have these tracks: audio that no playlist names becomes options, and one of them is selected.
    ///
    /// - Returns: whether there are several options now, and there were fewer before.
    /// - Throws: where a wish matches none of them. Only the first tracks are asked for that.
    mutating func offer(
        audio tracks: [MediaTrack], wish: QualityExpression?, canDecode: (MediaCodec) -> Bool
    ) throws(UnmatchedWish) -> Bool {
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
            if isFirst, let wish { throw UnmatchedWish(wish: wish, characteristic: .audible, offered: []) }
            return false
        }
        guard !new.isEmpty else { return false }
        let terms = terms(of: .audible, wish: wish)
        do throws(UnmatchedWish) {
            current[.audible] = try terms.option(in: group)
        } catch {
            if isFirst { throw error }
        }
        return group.options.count > 1
    }

    /// Selects what is wanted of the audio inside segments, for media that has no other options. False where nothing
    /// changes.
    mutating func selectAudioInside(wish: QualityExpression?) throws(UnmatchedWish) -> Bool {
        guard isAudioInside else { return false }
        let new = try option(.audible, wish: wish)
        guard new != current[.audible] else { return false }
        current[.audible] = new
        return true
    }

    /// Works out by what audio tracks inside segments are chosen.
    ///
    /// - Returns: whether it is another rule than before.
    mutating func updateAudioTrackRule(wish: QualityExpression?) -> Bool {
        let terms: SelectionTerms
        if isAudioDeclared {
            let language = current[.audible]?.extendedLanguageTag
            terms = SelectionTerms(
                criteria: language.map { MediaSelectionCriteria(preferredLanguages: [$0]) })
        } else {
            terms = self.terms(of: .audible, wish: wish)
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

    /// Adds what is not in a playlist to the legible group.
    private mutating func completeLegible() {
        groups[.legible] = MediaSelectionGroup(declared, with: found, sidecars.options)
    }

    // MARK: Captions of the program

    mutating func setSidecars(_ captions: [SidecarCaptions]) {
        sidecars = SidecarOptions(captions)
        completeLegible()
    }

    /// The captions of the program that are selected; nil where none are.
    package var selectedSidecar: SidecarCaptions? {
        sidecars.isEmpty ? nil : sidecars.captions(of: current[.legible])
    }

    /// Somebody wants an option of the group: variants are chosen by it. Otherwise it is chosen by the variant.
    func isWanted(_ characteristic: MediaCharacteristic, wish: QualityExpression?) -> Bool {
        if characteristic == .audible, !isAudioDeclared { return false }
        return wish != nil || (isAutomatic && criteria[characteristic] != nil)
            || choices[characteristic] ?? .automatic != .automatic || isChosenByLanguage(characteristic)
    }

    /// Another option plays than would without the user's languages.
    private func isChosenByLanguage(_ characteristic: MediaCharacteristic) -> Bool {
        guard characteristic == .audible, isAutomatic, criteria[.audible] == nil, !languages.isEmpty,
            let group = groups[.audible]
        else { return false }
        return choose(from: group) != MediaSelectionRule(isAutomatic: true).choose(from: group)
    }

    /// The option that the rule takes.
    private func choose(from group: MediaSelectionGroup) -> MediaSelectionOption? {
        terms(of: group.characteristic, wish: nil).choice(from: group, audible: companion(of: group.characteristic))
    }

    /// What is wanted of a group.
    private func terms(of characteristic: MediaCharacteristic, wish: QualityExpression?) -> SelectionTerms {
        var terms = SelectionTerms(
            choice: choices[characteristic] ?? .automatic, wish: wish, criteria: criteria[characteristic],
            isAutomatic: isAutomatic)
        if terms.criteria == nil, characteristic == .audible, !languages.isEmpty {
            terms.criteria = MediaSelectionCriteria(preferredLanguages: languages)
        }
        return terms
    }

    /// Subtitles are chosen beside the audio.
    private func companion(of characteristic: MediaCharacteristic) -> MediaSelectionOption? {
        characteristic == .legible ? current[.audible] : nil
    }

    /// The option that is to play: the user's, else that of `wish`, else the rule's.
    ///
    /// - Throws: where `wish` matches no option.
    func option(
        _ characteristic: MediaCharacteristic, wish: QualityExpression?
    ) throws(UnmatchedWish) -> MediaSelectionOption? {
        guard let group = groups[characteristic] else {
            // Segments may have it.
            if characteristic == .audible, !isAudioDeclared, !isAudioFound { return nil }
            if let wish, choices[characteristic] ?? .automatic == .automatic {
                throw UnmatchedWish(wish: wish, characteristic: characteristic, offered: [])
            }
            return nil
        }
        return try terms(of: characteristic, wish: wish).option(in: group, audible: companion(of: characteristic))
    }
}

extension MediaSelectionOption {
    /// The rendition of this option in a variant's group; else that of the group which is nearest to it: the same
    /// language, the group's default, its first.
    package func rendition(in group: [Rendition]) -> Rendition? {
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
