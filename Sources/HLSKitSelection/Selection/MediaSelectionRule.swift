/// Selects the option of a group if the user chose none.
package struct MediaSelectionRule: Sendable {
    var criteria: MediaSelectionCriteria?
    /// Whether criteria are applied. If not, the group's default plays.
    package var isAutomatic = true

    package init(criteria: MediaSelectionCriteria? = nil, isAutomatic: Bool = true) {
        self.criteria = criteria
        self.isAutomatic = isAutomatic
    }

    /// - Parameter audible: The playing audio option, which determines forced subtitles.
    package func choose(from group: MediaSelectionGroup, audible: MediaSelectionOption? = nil) -> MediaSelectionOption?
    {
        guard isAutomatic else {
            return group.allowsEmptySelection ? nil : group.defaultOption ?? group.options.first
        }
        let candidates = group.options.filter { $0.isAutoselectable && $0.isPlayable }
        if group.characteristic == .legible {
            guard let criteria else { return forced(of: candidates, for: audible) }
            // Show subtitles only if the criteria ask for a language or characteristic.
            return best(of: candidates.filter { !$0.isForced && serves($0, criteria) }, criteria)
                ?? forced(of: candidates, for: audible)
        }
        if let best = best(of: candidates, criteria ?? MediaSelectionCriteria()) { return best }
        return group.defaultOption ?? group.options.first(where: \.isPlayable) ?? group.options.first
    }

    private func forced(of options: [MediaSelectionOption], for audible: MediaSelectionOption?) -> MediaSelectionOption?
    {
        guard let language = audible?.extendedLanguageTag else { return nil }
        return options.first { option in
            option.isForced && option.extendedLanguageTag.map { LanguageTag.matches($0, language) } == true
        }
    }

    private func serves(_ option: MediaSelectionOption, _ criteria: MediaSelectionCriteria) -> Bool {
        if hasPrincipal(option, criteria) { return true }
        if !criteria.preferredLanguages.isEmpty {
            return rank(of: option, criteria) < criteria.preferredLanguages.count
        }
        return preferredCount(option, criteria) > 0
    }

    private func best(of options: [MediaSelectionOption], _ criteria: MediaSelectionCriteria) -> MediaSelectionOption? {
        var best: (option: MediaSelectionOption, order: [Int])?
        for option in options {
            // A lower value is better, and earlier elements take precedence.
            let order = [
                hasPrincipal(option, criteria) ? 0 : 1, rank(of: option, criteria), -preferredCount(option, criteria),
                option.isDefault ? 0 : 1,
            ]
            if let known = best, !order.lexicographicallyPrecedes(known.order) { continue }
            best = (option, order)
        }
        return best?.option
    }

    private func hasPrincipal(_ option: MediaSelectionOption, _ criteria: MediaSelectionCriteria) -> Bool {
        let principal = criteria.principalMediaCharacteristics
        return !principal.isEmpty && option.mediaCharacteristics.isSuperset(of: principal)
    }

    private func preferredCount(_ option: MediaSelectionOption, _ criteria: MediaSelectionCriteria) -> Int {
        criteria.preferredMediaCharacteristics.count { option.mediaCharacteristics.contains($0) }
    }

    private func rank(of option: MediaSelectionOption, _ criteria: MediaSelectionCriteria) -> Int {
        guard let tag = option.extendedLanguageTag else { return criteria.preferredLanguages.count }
        return criteria.preferredLanguages.firstIndex { LanguageTag.bestMatch(for: [$0], among: [tag]) != nil }
            ?? criteria.preferredLanguages.count
    }
}
