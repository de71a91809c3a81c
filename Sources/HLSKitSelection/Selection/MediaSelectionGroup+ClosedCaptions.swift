package import HLSKitCaptions
import HLSKitPlaylist

extension ClosedCaptionService {
    /// nil for what names no service of CEA-608 or CEA-708.
    package init?(instreamID: String?) {
        guard let instreamID else { return nil }
        for (prefix, numbers) in [("CC", 1...4), ("SERVICE", 1...63)] where instreamID.hasPrefix(prefix) {
            guard let number = Int(instreamID.dropFirst(prefix.count)), numbers.contains(number) else { return nil }
            self.init(rawValue: "\(prefix)\(number)")
            return
        }
        return nil
    }

    /// Those of CEA-608 first, each kind by its numbers.
    package var order: (Int, Int) {
        let isDigital = rawValue.hasPrefix("SERVICE")
        return (isDigital ? 1 : 0, Int(rawValue.dropFirst(isDigital ? 7 : 2)) ?? 0)
    }
}

extension MediaSelectionGroup {
    /// The legible group of a playlist with options for services that only the video shows, and others; nil if there is
    /// none of any.
    package init?(
        _ declared: MediaSelectionGroup?, with services: Set<ClosedCaptionService>,
        _ others: [MediaSelectionOption] = []
    ) {
        let found = services.sorted { $0.order < $1.order }.compactMap { service in
            var rendition = Rendition(type: .closedCaptions, groupID: "", name: service.rawValue)
            rendition.instreamID = service.rawValue
            return MediaSelectionOption([rendition], isPlayable: true)
        }
        let options = (declared?.options ?? []) + found + others
        guard !options.isEmpty else { return nil }
        self.init(characteristic: .legible, options: options, allowsEmptySelection: true)
    }
}
