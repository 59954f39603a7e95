"""The first half of a script: the field, or the reals, with the laws of the functions in it."""

from __future__ import annotations

FIELD = """\
From Coq Require Import ZArith NArith Field Ring_theory Setoid.

Section Certificate.

(* F is a field of characteristic 0, for instance the complex numbers. *)
Variable F : Type.
Variables (zero one : F) (add mul sub : F -> F -> F) (opp : F -> F).
Variables (div : F -> F -> F) (inv : F -> F).
Hypothesis F_is_a_field : field_theory zero one add mul sub opp div inv eq.
Definition num (z : Z) : F := gen_phiZ zero one add mul opp z. (* the integer z in F *)
Hypothesis characteristic_0 : forall p : positive, num (Zpos p) <> zero.

Declare Scope F_scope.
Delimit Scope F_scope with F.
Bind Scope F_scope with F.
Local Open Scope Z_scope.
Local Open Scope F_scope.
Local Coercion num : Z >-> F.
Notation "x + y" := (add x y) : F_scope.
Notation "x * y" := (mul x y) : F_scope.
Notation "x - y" := (sub x y) : F_scope.
Notation "- x" := (opp x) : F_scope.
Notation "x / y" := (div x y) : F_scope.
Notation "x ^ n" := (pow_N one mul x n%N) : F_scope.

Lemma num_morph :
  ring_morph zero one add mul sub opp eq 0%Z 1%Z Z.add Z.mul Z.sub Z.opp Zeq_bool num.
Proof. apply gen_phiZ_morph; [apply Eqsth | apply Eq_ext | apply (F_R F_is_a_field)]. Qed.

Lemma num_injective : forall x y, num x = num y -> Zeq_bool x y = true.
Proof.
  intros x y E. apply Zeq_is_eq_bool, Zminus_eq.
  assert (H : num (x - y)%Z = zero).
  { rewrite (morph_sub num_morph), E, (Rsub_def (F_R F_is_a_field)).
    apply (Ropp_def (F_R F_is_a_field)). }
  destruct (x - y)%Z as [|p|p] eqn:D; [reflexivity | destruct (characteristic_0 p H) |].
  exfalso. apply (characteristic_0 p). change (Z.pos p) with (- Z.neg p)%Z.
  rewrite (morph_opp num_morph), H, <- (Radd_0_l (F_R F_is_a_field) (- zero)).
  apply (Ropp_def (F_R F_is_a_field)).
Qed.

Ltac num_constant t :=
  match t with
  | num ?z => match isZcst z with true => z | _ => constr:(NotConstant) end
  | zero => constr:(0%Z) | one => constr:(1%Z) | _ => constr:(NotConstant)
  end.
Ltac power_constant t := match isNcst t with true => t | _ => constr:(NotConstant) end.
Add Field F_field : F_is_a_field
  (morphism num_morph, completeness num_injective, constants [num_constant],
   power_tac (pow_N_th one mul (Eqsth F)) [power_constant]).
Tactic Notation "call" constr(t) ident(v) ident(V) :=
  destruct (ex_intro (fun u => u = t) t eq_refl) as [v V].
Ltac nonzero := repeat split; assumption.
Ltac side := first [assumption | discriminate].
"""

# Laws by the functions that need them. Over the complex numbers each holds for principal branches.
FIELD_LAWS = {
    "sqrt": """\
Variable sqrt : F -> F.
Hypothesis sqrt_law : forall u : F, sqrt u ^ 2 = u.
""",
    "root": """\
Variable root : N -> F -> F. (* root n u is an n-th root of u *)
Hypothesis root_law : forall (n : N) (u : F), n <> 0%N -> root n u ^ n = u.
""",
    "I": """\
Variable I : F.
Hypothesis I_law : I ^ 2 = - 1.
""",
    "exp": """\
Variable exp : F -> F.
Hypothesis exp_add : forall u v : F, exp (u + v) = exp u * exp v.
Hypothesis exp_0 : exp 0 = 1.
Lemma exp_nonzero (u : F) : exp u <> 0.
Proof.
  intro Z. apply (F_1_neq_0 F_is_a_field). change (num 1 = 0). rewrite <- exp_0.
  replace (num 0) with (u + - u) by ring. rewrite exp_add, Z. ring.
Qed.
Lemma exp_opp (u : F) : exp (- u) = 1 / exp u.
Proof.
  assert (E : exp u * exp (- u) = 1) by (rewrite <- exp_add, <- exp_0; f_equal; ring).
  transitivity (exp u * exp (- u) / exp u); [field | rewrite E; reflexivity]; apply exp_nonzero.
Qed.
""",
    "log": """\
Variable log : F -> F.
Hypothesis log_law : forall u : F, u <> 0 -> exp (log u) = u.
""",
    "pi": """\
Variable pi : F.
""",
    "trigonometry": """\
Variables sin cos : F -> F.
Hypothesis sin_add : forall u v : F, sin (u + v) = sin u * cos v + cos u * sin v.
Hypothesis cos_add : forall u v : F, cos (u + v) = cos u * cos v - sin u * sin v.
Hypothesis sin_opp : forall u : F, sin (- u) = - sin u.
Hypothesis cos_opp : forall u : F, cos (- u) = cos u.
Hypothesis sin_0 : sin 0 = 0.
Hypothesis cos_0 : cos 0 = 1.
Ltac expand :=
  repeat first [rewrite sin_add | rewrite cos_add | rewrite sin_opp | rewrite cos_opp].
Lemma cos_square (u : F) : cos u ^ 2 = 1 - sin u ^ 2.
Proof.
  rewrite <- cos_0. replace (num 0) with (u + - u) by ring. rewrite cos_add, sin_opp, cos_opp. ring.
Qed.
Lemma sin_square (u : F) : sin u ^ 2 = 1 - cos u ^ 2.
Proof. rewrite cos_square. ring. Qed.
""",
    "half_turn": """\
Hypothesis sin_half : sin (pi / 2) = 1.
Hypothesis cos_half : cos (pi / 2) = 0.
""",
    "tan": """\
Variable tan : F -> F.
Hypothesis tan_law : forall u : F, cos u <> 0 -> tan u = sin u / cos u.
""",
    "asin": """\
Variable asin : F -> F.
Hypothesis asin_law : forall u : F, sin (asin u) = u.
""",
    "acos": """\
Variable acos : F -> F.
Hypothesis acos_law : forall u : F, cos (acos u) = u.
""",
    "atan": """\
Variable atan : F -> F.
Hypothesis atan_law : forall u : F, 1 + u ^ 2 <> 0 -> sin (atan u) = u * cos (atan u).
Lemma atan_cos (u : F) : 1 + u ^ 2 <> 0 -> cos (atan u) ^ 2 = 1 / (1 + u ^ 2).
Proof.
  intro H. pose proof (cos_square (atan u)) as E. rewrite (atan_law u H) in E.
  transitivity ((cos (atan u) ^ 2 + (u * cos (atan u)) ^ 2) / (1 + u ^ 2)); [field; exact H|].
  rewrite E at 1. field. exact H.
Qed.
""",
    "lambert": """\
Variable lambert : F -> F. (* Lambert's W *)
Hypothesis lambert_law : forall u : F, lambert u * exp (lambert u) = u.
""",
    "lower_lambert": """\
Variable lower_lambert : F -> F. (* Lambert's W on the branch -1 *)
Hypothesis lower_lambert_law :
  forall u : F, u <> 0 -> lower_lambert u * exp (lower_lambert u) = u.
""",
}

REAL = """\
From Coq Require Import Reals Lra Psatz.

Section Certificate.

Local Open Scope R_scope.
Notation log := ln.
Notation pi := PI.
Tactic Notation "call" constr(t) ident(v) ident(V) :=
  destruct (ex_intro (fun u => u = t) t eq_refl) as [v V].
Ltac nonzero := repeat split; assumption.
Ltac side := first [assumption | discriminate | split; assumption | lra].

Lemma sqrt_law (u : R) : 0 <= u -> sqrt u ^ 2 = u.
Proof. intro H. simpl. rewrite Rmult_1_r. apply sqrt_sqrt. exact H. Qed.
(* the n-th root that is not negative *)
Definition root (n : nat) (u : R) : R := if Req_EM_T u 0 then 0 else Rpower u (/ INR n).
Lemma root_pos (n : nat) (u : R) : 0 <= root n u.
Proof. unfold root. destruct (Req_EM_T u 0); [lra | left; apply exp_pos]. Qed.
Lemma root_law (n : nat) (u : R) : n <> 0%nat -> 0 <= u -> root n u ^ n = u.
Proof.
  intros N H. unfold root. destruct (Req_EM_T u 0) as [Z | Z].
  - rewrite Z. destruct n; [contradiction | simpl; ring].
  - assert (P : 0 < u) by lra.
    rewrite <- Rpower_pow, Rpower_mult by apply exp_pos.
    rewrite Rinv_l by (apply not_0_INR; exact N). apply Rpower_1. exact P.
Qed.
Lemma power_lt (n : nat) (u v : R) : n <> 0%nat -> 0 <= u -> u < v -> u ^ n < v ^ n.
Proof.
  intros N U L. induction n as [|n IH]; [contradiction|]. destruct n as [|n]; [simpl; lra|].
  change (u * u ^ S n < v * v ^ S n). apply Rmult_le_0_lt_compat; [exact U | | exact L |].
  - apply pow_le. exact U.
  - apply IH. discriminate.
Qed.
Lemma power_injective (n : nat) (u v : R) :
  n <> 0%nat -> 0 <= u -> 0 <= v -> u ^ n = v ^ n -> u = v.
Proof.
  intros N U V E. destruct (Rtotal_order u v) as [L | [L | L]]; [exfalso | exact L | exfalso].
  - pose proof (power_lt n u v N U L). lra.
  - pose proof (power_lt n v u N V L). lra.
Qed.
Lemma root_of_power (n : nat) (u v : R) :
  n <> 0%nat -> 0 <= u -> 0 <= v -> u = v ^ n -> root n u = v.
Proof.
  intros N U V E. apply (power_injective n); [exact N | apply root_pos | exact V |].
  rewrite root_law; assumption.
Qed.
Lemma sqrt_of_power (u v : R) : 0 <= v -> u = v ^ 2 -> sqrt u = v.
Proof. intros V E. rewrite E. apply sqrt_pow2. exact V. Qed.
Lemma exp_add (u v : R) : exp (u + v) = exp u * exp v.
Proof. apply exp_plus. Qed.
Lemma exp_nonzero (u : R) : exp u <> 0.
Proof. pose proof (exp_pos u). lra. Qed.
Lemma exp_opp (u : R) : exp (- u) = 1 / exp u.
Proof. rewrite exp_Ropp. unfold Rdiv. ring. Qed.
Lemma log_law (u : R) : 0 < u -> exp (ln u) = u.
Proof. apply exp_ln. Qed.
Ltac expand :=
  repeat first [rewrite sin_plus | rewrite cos_plus | rewrite sin_neg | rewrite cos_neg].
Lemma cos_square (u : R) : cos u ^ 2 = 1 - sin u ^ 2.
Proof. pose proof (sin2_cos2 u) as E. unfold Rsqr in E. simpl. lra. Qed.
Lemma sin_square (u : R) : sin u ^ 2 = 1 - cos u ^ 2.
Proof. rewrite cos_square. ring. Qed.
Definition sin_half := sin_PI2.
Definition cos_half := cos_PI2.
Lemma tan_law (u : R) : cos u <> 0 -> tan u = sin u / cos u.
Proof. reflexivity. Qed.
Lemma asin_law (u : R) : -1 <= u <= 1 -> sin (asin u) = u.
Proof. apply sin_asin. Qed.
Lemma acos_law (u : R) : -1 <= u <= 1 -> cos (acos u) = u.
Proof. apply cos_acos. Qed.
Lemma atan_nonzero (u : R) : cos (atan u) <> 0.
Proof. destruct (atan_bound u). assert (0 < cos (atan u)) by (apply cos_gt_0; lra). lra. Qed.
Lemma atan_law (u : R) : 1 + u ^ 2 <> 0 -> sin (atan u) = u * cos (atan u).
Proof.
  intros _. rewrite <- (tan_atan u) at 2. unfold tan. field. apply atan_nonzero.
Qed.
Lemma atan_cos (u : R) : 1 + u ^ 2 <> 0 -> cos (atan u) ^ 2 = 1 / (1 + u ^ 2).
Proof.
  intro H. pose proof (cos_square (atan u)) as E. rewrite (atan_law u H) in E.
  transitivity ((cos (atan u) ^ 2 + (u * cos (atan u)) ^ 2) / (1 + u ^ 2)); [field; exact H|].
  rewrite E at 1. field. exact H.
Qed.
"""

# Of Lambert's W Coq's library knows nothing: there is one such function where u >= 0, and another
# one from -1/e to 0.
REAL_LAWS = {
    "lambert": """\
Variable lambert : R -> R. (* Lambert's W *)
Hypothesis lambert_law : forall u : R, 0 <= u -> lambert u * exp (lambert u) = u.
""",
    "lower_lambert": """\
Variable lower_lambert : R -> R. (* Lambert's W on the branch -1 *)
Hypothesis lower_lambert_law :
  forall u : R, - exp (- 1) <= u -> u < 0 -> lower_lambert u * exp (lower_lambert u) = u.
""",
}
