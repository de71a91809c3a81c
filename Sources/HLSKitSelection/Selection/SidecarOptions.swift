import HLSKitPlaylist

package struct SidecarOptions: Sendable {
    private var entries: [(option: MediaSelectionOption, index: Int)] = []
    private var captions: [SidecarCaptions] = []

    package init() {}

    package init(_ captions: [SidecarCaptions]) {
        self.captions = captions
        for (index, sidecar) in captions.enumerated() {
            var rendition = Rendition(type: .sidecar, groupID: "", name: sidecar.name, language: sidecar.language)
            rendition.isAutoselect = true
            guard let option = MediaSelectionOption([rendition], isPlayable: true),
                !entries.contains(where: { $0.option.id == option.id })
            else { continue }
            entries.append((option, index))
        }
    }

    package var isEmpty: Bool { entries.isEmpty }
    package var options: [MediaSelectionOption] { entries.map(\.option) }

    package func captions(of option: MediaSelectionOption?) -> SidecarCaptions? {
        guard let option, let entry = entries.first(where: { $0.option.id == option.id }) else { return nil }
        return captions[entry.index]
    }
}

extension Rendition.MediaType {
    /// A media type that no playlist declares.
    fileprivate static let sidecar = Rendition.MediaType(rawValue: "X-HLSKIT-SIDECAR")
}
