package import HLSKitLoading

package enum MediaSelectionChoice: Sendable, Hashable {
    /// The rule selects, regardless of other preferences.
    case automatic
    /// No option of the group.
    case none
    /// The option with this ``MediaSelectionOption/id``.
    case option(String)
}

/// The preferences for the options of one group: the user's choice, otherwise an expression, otherwise criteria.
package struct SelectionTerms: Sendable, Equatable {
    package var choice = MediaSelectionChoice.automatic
    package var preference: QualityExpression?
    package var criteria: MediaSelectionCriteria?
    package var isAutomatic = true

    package init(
        choice: MediaSelectionChoice = .automatic, preference: QualityExpression? = nil,
        criteria: MediaSelectionCriteria? = nil, isAutomatic: Bool = true
    ) {
        self.choice = choice
        self.preference = preference
        self.criteria = criteria
        self.isAutomatic = isAutomatic
    }

    /// Returns the option to play: the user's, otherwise the expression's, otherwise the rule's.
    ///
    /// - Parameter audible: The audio option that plays with subtitles.
    ///
    /// - Throws: ``UnmatchedPreference`` if the expression matches no option.
    package func option(
        in group: MediaSelectionGroup, audible: MediaSelectionOption? = nil
    ) throws(UnmatchedPreference) -> MediaSelectionOption? {
        switch choice {
        case .none where group.allowsEmptySelection: return nil
        case .option(let id):
            if let option = group.option(withID: id) { return option }
        case .automatic, .none: break
        }
        guard let preference else { return self.choice(from: group, audible: audible) }
        // Prefer subtitles to closed captions.
        let order = group.options.enumerated().sorted {
            ($0.element.isClosedCaptions ? 1 : 0, $0.offset) < ($1.element.isClosedCaptions ? 1 : 0, $1.offset)
        }
        let candidates = order.map { index, option in
            RenditionCandidate(
                index: index, language: option.extendedLanguageTag, name: option.displayName,
                channelCount: option.channelCount, codecs: [], isForced: option.isForced,
                channelUsage: option.channelUsage, characteristics: option.mediaCharacteristics.map(\.rawValue))
        }
        guard let index = preference.matches(candidates.filter { group.options[$0.index].isPlayable }).first else {
            throw UnmatchedPreference(
                preference: preference, characteristic: group.characteristic, offered: group.options)
        }
        return group.options[index]
    }

    /// Returns the option that the rule selects, ignoring the user's choice.
    package func choice(from group: MediaSelectionGroup, audible: MediaSelectionOption?) -> MediaSelectionOption? {
        MediaSelectionRule(criteria: criteria, isAutomatic: isAutomatic).choose(from: group, audible: audible)
    }
}

package struct UnmatchedPreference: Error {
    package var preference: QualityExpression
    package var characteristic: MediaCharacteristic
    package var offered: [MediaSelectionOption]

    package init(preference: QualityExpression, characteristic: MediaCharacteristic, offered: [MediaSelectionOption]) {
        self.preference = preference
        self.characteristic = characteristic
        self.offered = offered
    }

    package func error(url: String?) -> HLSError {
        let what = characteristic == .audible ? "audio" : characteristic == .visual ? "video" : "subtitles"
        let names = offered.map { "\($0.displayName) (\($0.extendedLanguageTag ?? "-"))" }.joined(separator: ", ")
        let cause = "no \(what) rendition matches \"\(preference)\""
        return HLSError(
            code: .noEligibleVariant, urlString: url, cause: cause,
            detail: names.isEmpty ? "none available" : "available: \(names)",
            underlyingError: HLSError(code: .noMatchingRendition, urlString: nil, cause: cause))
    }
}
