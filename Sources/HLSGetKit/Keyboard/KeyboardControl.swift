package import HLSKitCore

package struct KeyboardControl: Sendable {
    package enum Outcome: Sendable, Equatable {
        case nothing
        case say(String)
        case quit
    }

    package let player: Player

    package init(player: Player) {
        self.player = player
    }

    package func perform(_ command: KeyCommand) -> Outcome {
        switch command {
        case .togglePause:
            if player.rate == 0 { player.play() } else { player.pause() }
        case .seek(let seconds): seek(by: seconds)
        case .stepFrame(let count):
            guard let item = player.currentItem, item.canStepForward else { return .say("no frames to step through") }
            player.pause()
            item.step(byCount: count)
        case .changeRate(let step): return changeRate(step)
        case .playImmediately: player.playImmediately(atRate: player.defaultRate)
        case .nextSubtitles: return selectNext(of: .legible, called: "subtitles")
        case .nextAudio: return selectNext(of: .audible, called: "audio")
        case .changeQuality(let step): return changeQuality(step)
        case .skipInterstitial: return skipInterstitial()
        case .toggleMute:
            player.isMuted.toggle()
            return .say(player.isMuted ? "muted" : "not muted")
        case .changeVolume(let step):
            player.volume = KeyCommand.volume(step, from: player.volume)
            let percent = Decimals.text(Double(player.volume) * 100, places: 0)
            return .say("volume \(percent) %" + (player.isMuted ? ", muted" : ""))
        // Only the session knows the window, the range and the queue.
        case .markLoop, .takeScreenshot, .nextStream: break
        case .showHelp: return .say(KeyCommand.help)
        case .quit: return .quit
        }
        return .nothing
    }

    /// Seeks relative to the target of a pending seek, so that repeated keys add up exactly.
    private func seek(by seconds: Int) {
        guard let now = player.state.currentTime.finiteSeconds else { return }
        seek(to: now + Double(seconds))
    }

    package func seek(to time: Double) {
        let player = player
        var target = MediaTime(seconds: time, preferredTimescale: 90_000)
        if let range = player.state.seekableTimeRanges.last {
            target = min(max(target, range.start), range.end)
        }
        let place = target
        // Start the seek before handling the next key.
        Task.immediate { _ = try? await player.seek(to: place, toleranceBefore: .zero, toleranceAfter: .zero) }
    }

    private func skipInterstitial() -> Outcome {
        guard let interstitial = player.state.interstitial else { return .say("no interstitial plays") }
        switch interstitial.skippableState {
        case .eligible: InterstitialEventController(primaryPlayer: player).skipCurrentEvent()
        case .notYetEligible: return .say("this interstitial may be skipped later")
        case .notSkippable, .noLongerEligible: return .say("this interstitial may not be skipped")
        }
        return .nothing
    }

    /// Seeks to a position near the pointer that is quick to show. A newer seek replaces it.
    package func seek(near time: Double) {
        guard time.isFinite else { return }
        let (player, tolerance) = (player, MediaTime.seconds(2))
        let place = MediaTime(seconds: time, preferredTimescale: 90_000)
        Task.immediate { _ = try? await player.seek(to: place, toleranceBefore: tolerance, toleranceAfter: tolerance) }
    }

    private func changeRate(_ step: Int) -> Outcome {
        let rate = KeyCommand.rate(step, from: player.defaultRate)
        player.defaultRate = rate
        if player.rate != 0 { player.rate = rate }
        return .say("rate \(Decimals.rate(Double(rate)))")
    }

    /// Plays the next variant in one direction from now on. Beyond the last one, the player chooses again.
    private func changeQuality(_ step: Int) -> Outcome {
        guard let item = player.currentItem else { return .say("no quality to choose from") }
        if case .best = item.variantPolicy { return .say("the quality of a recording does not change") }
        let variants = item.selectableVariants
        guard variants.count > 1 else { return .say("no other quality") }
        var index = step > 0 ? -1 : variants.count
        var isPinned = false
        if case .pinned(let id, _) = item.variantPolicy, let pinned = variants.firstIndex(where: { $0.id == id }) {
            (index, isPinned) = (pinned, true)
        } else if let current = player.state.variant, let place = variants.firstIndex(where: { $0.id == current.id }) {
            index = place
        }
        index += step
        guard variants.indices.contains(index) || !isPinned else {
            item.variantPolicy = .automatic
            return .say("quality: automatic")
        }
        let variant = variants[min(max(index, 0), variants.count - 1)]
        item.variantPolicy = .pinned(variant.id, flush: true)
        return .say("quality: \(variant.name())")
    }

    private func selectNext(of characteristic: MediaCharacteristic, called name: String) -> Outcome {
        guard let item = player.currentItem, let group = item.mediaSelectionGroup(for: characteristic) else {
            return .say("no \(name) to choose from")
        }
        var options: [MediaSelectionOption?] = group.options.filter(\.isPlayable)
        if group.allowsEmptySelection { options.append(nil) }
        guard options.count > 1 else { return .say("no other \(name)") }
        let current = item.currentMediaSelection[characteristic]
        let index = options.firstIndex { $0?.id == current?.id } ?? options.count - 1
        let next = options[(index + 1) % options.count]
        item.select(next, in: group)
        guard let next else { return .say("\(name): none") }
        let language = next.extendedLanguageTag.map { " (\($0))" } ?? ""
        return .say("\(name): \(TerminalText.escaped(next.displayName + language))")
    }
}
