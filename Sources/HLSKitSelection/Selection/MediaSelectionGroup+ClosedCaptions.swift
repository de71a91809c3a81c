package import HLSKitCaptions
import HLSKitPlaylist

extension ClosedCaptionService {
    package init?(instreamID: String?) {
        guard let instreamID else { return nil }
        for (prefix, numbers) in [("CC", 1...4), ("SERVICE", 1...63)] where instreamID.hasPrefix(prefix) {
            guard let number = Int(instreamID.dropFirst(prefix.count)), numbers.contains(number) else { return nil }
            self.init(rawValue: "\(prefix)\(number)")
            return
        }
        return nil
    }

    /// The sort order: CEA-608 services first, then by number.
    package var order: (Int, Int) {
        let isDigital = rawValue.hasPrefix("SERVICE")
        return (isDigital ? 1 : 0, Int(rawValue.dropFirst(isDigital ? 7 : 2)) ?? 0)
    }
}

extension MediaSelectionGroup {
    /// Creates the legible group of a playlist, with additional options for caption services in the video and other
    /// sources. Returns nil if there are no options.
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
