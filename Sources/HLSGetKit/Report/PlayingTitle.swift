package import HLSKitCore

/// The title of the playing media, as radio stations send it: `Artist – Title`.
package enum PlayingTitle {
    package static func text(of group: TimedMetadataGroup) -> String? {
        func string(_ key: CommonMetadataKey) -> String? {
            for case .string(let text)? in group.items.lazy.filter({ $0.commonKey == key }).map(\.heldValue) {
                let trimmed = text.trimmed()
                if !trimmed.isEmpty { return trimmed }
            }
            return nil
        }
        guard let title = string(.title) else { return nil }
        return TerminalText.escaped([string(.artist), title].compactMap(\.self).joined(separator: " – "))
    }
}
