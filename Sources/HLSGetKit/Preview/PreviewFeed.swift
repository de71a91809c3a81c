package import HLSKitCore

/// Gives the frames of items to a terminal, as many as it takes.
package final class PreviewFeed: Sendable {
    private let screen: PreviewScreen
    private let clock: ContinuousClock

    package init(_ screen: PreviewScreen, clock: ContinuousClock) {
        self.screen = screen
        self.clock = clock
    }

    /// Shows an item when it is its turn.
    package func add(_ item: PlayerItem) throws(HLSError) {
        let output = VideoOutput(displaySize: screen.layout.imageSize, colorPolicy: .convert(to: .rec709))
        try item.add(output)
        let (screen, clock, frames) = (screen, clock, output.frames())
        Task.detached {
            var pace = PreviewPace(rate: screen.format.rate)
            for await frame in frames {
                let began = clock.now
                guard pace.isDue(at: HostTime(began)) else { continue }
                let size = screen.layout.imageSize
                if output.displaySize != size { output.displaySize = size }
                guard let image = try? StillImage(frame, maximumSize: size, appliesPreferredTransform: true) else {
                    continue
                }
                screen.show(image)
                pace.note(began: HostTime(began), ended: HostTime(clock.now))
            }
        }
    }
}

/// When the next image is shown: not more often than is of use, nor than a terminal takes.
struct PreviewPace: Sendable {
    private let interval: Duration
    private var due = HostTime.zero

    init(rate: Int) { interval = .seconds(1) / max(1, rate) }

    func isDue(at now: HostTime) -> Bool { now >= due }

    /// An image was made and sent. What takes long leaves as much time to everything else.
    mutating func note(began: HostTime, ended: HostTime) {
        // A frame that comes a little early is that of the interval, too.
        due = max(began + interval - interval / 8, ended + (ended - began))
    }
}
