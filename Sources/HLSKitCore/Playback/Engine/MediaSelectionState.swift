import HLSCaptions
import HLSPlaylist

/// What was chosen of one group.
enum MediaSelectionChoice: Sendable, Hashable {
    /// By the rule, whatever is wanted.
    case automatic
    /// Nothing of the group.
    case none
    /// The option with this ``MediaSelectionOption/id``.
    case option(String)
}

/// Which options there are, what is wanted of them, and what is selected.
struct MediaSelectionState: Sendable {
    /// By characteristic; of the player, so they outlive an item.
    private(set) var criteria: [MediaCharacteristic: MediaSelectionCriteria] = [:]
    /// Criteria and defaults are followed; otherwise each group's default plays.
    private(set) var isAutomatic = true
    /// What the user speaks, the most wanted first; BCP 47 tags. Of the player.
    private var languages: [String] = []
    /// What the user chose for this item.
    private(set) var choices: [MediaCharacteristic: MediaSelectionChoice] = [:]
    /// The groups of this item; empty until its multivariant playlist is there.
    private(set) var groups: [MediaCharacteristic: MediaSelectionGroup] = [:]
    private(set) var current = MediaSelection()
    /// The legible group as the playlist has it, and services of closed captions that only the video tells of.
    private var declared: MediaSelectionGroup?
    private var found: Set<ClosedCaptionService> = []
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
        sidecars = SidecarOptions()
        current = MediaSelection()
    }

    // MARK: Wishes

    /// Takes what belongs to the player and not to an item.
    mutating func takeCriteria(from other: MediaSelectionState) {
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

    // MARK: Groups

    mutating func setGroups(of playlist: MultivariantPlaylist, canDecode: (String) -> Bool) {
        for characteristic in [MediaCharacteristic.audible, .legible, .visual] {
            groups[characteristic] = MediaSelectionGroup(characteristic, of: playlist, canDecode: canDecode)
        }
        declared = groups[.legible]
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
    var selectedSidecar: SidecarCaptions? {
        sidecars.isEmpty ? nil : sidecars.captions(of: current[.legible])
    }

    /// Somebody wants an option of the group: variants are chosen by it. Otherwise it is chosen by the variant.
    func isWanted(_ characteristic: MediaCharacteristic, wish: QualityExpression?) -> Bool {
        wish != nil || (isAutomatic && criteria[characteristic] != nil)
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
        var criteria = criteria[group.characteristic]
        if criteria == nil, group.characteristic == .audible, !languages.isEmpty {
            criteria = MediaSelectionCriteria(preferredLanguages: languages)
        }
        let audible = group.characteristic == .legible ? current[.audible] : nil
        return MediaSelectionRule(criteria: criteria, isAutomatic: isAutomatic).choose(from: group, audible: audible)
    }

    /// The option that is to play: the user's, else that of `wish`, else the rule's.
    ///
    /// - Throws: where `wish` matches no option.
    func option(
        _ characteristic: MediaCharacteristic, wish: QualityExpression?
    ) throws(UnmatchedWish) -> MediaSelectionOption? {
        guard let group = groups[characteristic] else {
            if let wish, choices[characteristic] ?? .automatic == .automatic {
                throw UnmatchedWish(wish: wish, characteristic: characteristic, offered: [])
            }
            return nil
        }
        switch choices[characteristic] ?? .automatic {
        case .none where group.allowsEmptySelection: return nil
        case .option(let id):
            if let option = group.option(withID: id) { return option }
        case .automatic, .none: break
        }
        if let wish {
            // Subtitles are preferred to closed captions.
            let order = group.options.enumerated().sorted {
                ($0.element.isClosedCaptions ? 1 : 0, $0.offset) < ($1.element.isClosedCaptions ? 1 : 0, $1.offset)
            }
            let candidates = order.map { index, option in
                RenditionCandidate(
                    index: index, language: option.extendedLanguageTag, name: option.displayName,
                    channelCount: option.channelCount, codecs: [], isForced: option.isForced,
                    channelUsage: option.channelUsage)
            }
            guard let index = wish.matches(candidates.filter { group.options[$0.index].isPlayable }).first else {
                throw UnmatchedWish(wish: wish, characteristic: characteristic, offered: group.options)
            }
            return group.options[index]
        }
        return choose(from: group)
    }

    /// A wish that no option fulfils.
    struct UnmatchedWish: Error {
        var wish: QualityExpression
        var characteristic: MediaCharacteristic
        var offered: [MediaSelectionOption]

        func error(url: String?) -> HLSError {
            let what = characteristic == .audible ? "audio" : "subtitles"
            let names = offered.map { "\($0.displayName) (\($0.extendedLanguageTag ?? "-"))" }.joined(separator: ", ")
            return HLSError(
                code: .noEligibleVariant, url: url, cause: "no \(what) rendition matches \"\(wish)\"",
                detail: names.isEmpty ? "none available" : "available: \(names)")
        }
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
